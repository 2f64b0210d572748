; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @input_reduce_fusion(ptr align 256 dereferenceable(4096) %0, ptr noalias align 256 dereferenceable(128) %1, ptr noalias align 256 dereferenceable(128) %2) #0 {
  call void @llvm.nvvm.griddepcontrol.wait()
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !1
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !range !2
  %6 = urem i32 %4, 32
  %7 = mul i32 %5, 256
  %8 = add i32 %7, %4
  %9 = getelementptr inbounds [1024 x float], ptr %0, i32 0, i32 %8
  %10 = load float, ptr %9, align 4
  %11 = zext i32 %6 to i64
  %12 = trunc i64 %11 to i32
  %13 = call { float, i32 } @region_4_5_tuple_3_0(float -inf, i32 0, float %10, i32 %12)
  %14 = extractvalue { float, i32 } %13, 0
  %15 = extractvalue { float, i32 } %13, 1
  %16 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %14, i32 16, i32 31)
  %17 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %15, i32 16, i32 31)
  %18 = call { float, i32 } @region_4_5_tuple_3_0(float %14, i32 %15, float %16, i32 %17)
  %19 = extractvalue { float, i32 } %18, 0
  %20 = extractvalue { float, i32 } %18, 1
  %21 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %19, i32 8, i32 31)
  %22 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %20, i32 8, i32 31)
  %23 = call { float, i32 } @region_4_5_tuple_3_0(float %19, i32 %20, float %21, i32 %22)
  %24 = extractvalue { float, i32 } %23, 0
  %25 = extractvalue { float, i32 } %23, 1
  %26 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %24, i32 4, i32 31)
  %27 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %25, i32 4, i32 31)
  %28 = call { float, i32 } @region_4_5_tuple_3_0(float %24, i32 %25, float %26, i32 %27)
  %29 = extractvalue { float, i32 } %28, 0
  %30 = extractvalue { float, i32 } %28, 1
  %31 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %29, i32 2, i32 31)
  %32 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %30, i32 2, i32 31)
  %33 = call { float, i32 } @region_4_5_tuple_3_0(float %29, i32 %30, float %31, i32 %32)
  %34 = extractvalue { float, i32 } %33, 0
  %35 = extractvalue { float, i32 } %33, 1
  %36 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %34, i32 1, i32 31)
  %37 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %35, i32 1, i32 31)
  %38 = call { float, i32 } @region_4_5_tuple_3_0(float %34, i32 %35, float %36, i32 %37)
  %39 = extractvalue { float, i32 } %38, 0
  %40 = extractvalue { float, i32 } %38, 1
  %41 = icmp eq i32 %6, 0
  %42 = icmp sle i32 %4, 224
  %43 = and i1 %41, %42
  %44 = mul i32 %5, 8
  %45 = udiv i32 %4, 32
  %46 = add i32 %44, %45
  br i1 %43, label %47, label %50

47:                                               ; preds = %3
  %48 = getelementptr inbounds [32 x float], ptr %1, i32 0, i32 %46
  store float %39, ptr %48, align 4
  %49 = getelementptr inbounds [32 x i32], ptr %2, i32 0, i32 %46
  store i32 %40, ptr %49, align 4
  br label %50

50:                                               ; preds = %47, %3
  ret void
}

define internal { float, i32 } @region_4_5_tuple_3_0(float %0, i32 %1, float %2, i32 %3) {
  %5 = fcmp ogt float %0, %2
  %6 = fcmp une float %0, %0
  %7 = or i1 %5, %6
  %8 = select i1 %7, float %0, float %2
  %9 = fcmp oeq float %0, %2
  %10 = icmp slt i32 %1, %3
  %11 = and i1 %9, %10
  %12 = or i1 %7, %11
  %13 = select i1 %12, i32 %1, i32 %3
  %14 = insertvalue { float, i32 } poison, float %8, 0
  %15 = insertvalue { float, i32 } %14, i32 %13, 1
  ret { float, i32 } %15
}

; Function Attrs: nounwind
declare void @llvm.nvvm.griddepcontrol.wait() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #2

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32) #3

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32) #3

attributes #0 = { "nvvm.reqntid"="256,1,1" }
attributes #1 = { nounwind }
attributes #2 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }

!llvm.module.flags = !{!0}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 0, i32 256}
!2 = !{i32 0, i32 4}
