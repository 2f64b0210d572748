; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: nounwind
define ptx_kernel void @input_reduce_fusion(ptr noalias nofree readonly align 256 captures(none) dereferenceable(4096) %0, ptr noalias nofree writeonly align 256 captures(none) dereferenceable(128) %1, ptr noalias nofree writeonly align 256 captures(none) dereferenceable(128) %2) local_unnamed_addr #0 {
  %4 = addrspacecast ptr %0 to ptr addrspace(1)
  %5 = addrspacecast ptr %2 to ptr addrspace(1)
  %6 = addrspacecast ptr %1 to ptr addrspace(1)
  tail call void @llvm.nvvm.griddepcontrol.wait()
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !range !3
  %9 = and i32 %7, 31
  %10 = shl nuw nsw i32 %8, 8
  %11 = or disjoint i32 %10, %7
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds [4 x i8], ptr addrspace(1) %4, i64 %12
  %14 = load float, ptr addrspace(1) %13, align 4, !invariant.load !4
  %15 = fcmp oeq float %14, -inf
  %16 = select i1 %15, i32 0, i32 %9
  %17 = tail call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %14, i32 16, i32 31)
  %18 = tail call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %16, i32 16, i32 31)
  %19 = fcmp ogt float %14, %17
  %20 = fcmp uno float %14, 0.000000e+00
  %21 = or i1 %20, %19
  %22 = select i1 %21, float %14, float %17
  %23 = fcmp oeq float %14, %17
  %24 = icmp slt i32 %16, %18
  %25 = and i1 %23, %24
  %26 = or i1 %21, %25
  %27 = select i1 %26, i32 %16, i32 %18
  %28 = tail call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %22, i32 8, i32 31)
  %29 = tail call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %27, i32 8, i32 31)
  %30 = fcmp ogt float %22, %28
  %31 = fcmp uno float %22, 0.000000e+00
  %32 = or i1 %31, %30
  %33 = select i1 %32, float %22, float %28
  %34 = fcmp oeq float %22, %28
  %35 = icmp slt i32 %27, %29
  %36 = and i1 %34, %35
  %37 = or i1 %32, %36
  %38 = select i1 %37, i32 %27, i32 %29
  %39 = tail call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %33, i32 4, i32 31)
  %40 = tail call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %38, i32 4, i32 31)
  %41 = fcmp ogt float %33, %39
  %42 = fcmp uno float %33, 0.000000e+00
  %43 = or i1 %42, %41
  %44 = select i1 %43, float %33, float %39
  %45 = fcmp oeq float %33, %39
  %46 = icmp slt i32 %38, %40
  %47 = and i1 %45, %46
  %48 = or i1 %43, %47
  %49 = select i1 %48, i32 %38, i32 %40
  %50 = tail call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %44, i32 2, i32 31)
  %51 = tail call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %49, i32 2, i32 31)
  %52 = fcmp ogt float %44, %50
  %53 = fcmp uno float %44, 0.000000e+00
  %54 = or i1 %53, %52
  %55 = select i1 %54, float %44, float %50
  %56 = fcmp oeq float %44, %50
  %57 = icmp slt i32 %49, %51
  %58 = and i1 %56, %57
  %59 = or i1 %54, %58
  %60 = select i1 %59, i32 %49, i32 %51
  %61 = tail call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %55, i32 1, i32 31)
  %62 = tail call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %60, i32 1, i32 31)
  %63 = icmp eq i32 %9, 0
  %64 = icmp samesign ult i32 %7, 225
  %65 = and i1 %64, %63
  br i1 %65, label %66, label %82

66:                                               ; preds = %3
  %67 = shl nuw nsw i32 %8, 3
  %68 = lshr exact i32 %7, 5
  %69 = or disjoint i32 %67, %68
  %70 = zext nneg i32 %69 to i64
  %71 = getelementptr inbounds [4 x i8], ptr addrspace(1) %5, i64 %70
  %72 = getelementptr inbounds [4 x i8], ptr addrspace(1) %6, i64 %70
  %73 = fcmp uno float %55, 0.000000e+00
  %74 = fcmp ogt float %55, %61
  %75 = or i1 %73, %74
  %76 = fcmp oeq float %55, %61
  %77 = icmp slt i32 %60, %62
  %78 = and i1 %76, %77
  %79 = or i1 %75, %78
  %80 = select i1 %79, i32 %60, i32 %62
  %81 = select i1 %75, float %55, float %61
  store float %81, ptr addrspace(1) %72, align 4
  store i32 %80, ptr addrspace(1) %71, align 4
  br label %82

82:                                               ; preds = %66, %3
  ret void
}

; Function Attrs: nounwind
declare void @llvm.nvvm.griddepcontrol.wait() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #2

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32) #3

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32) #3

attributes #0 = { nounwind "nvvm.reqntid"="256,1,1" }
attributes #1 = { nounwind }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }

!llvm.module.flags = !{!0, !1}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!2 = !{i32 0, i32 256}
!3 = !{i32 0, i32 4}
!4 = !{}
