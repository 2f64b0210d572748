; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@global_smem = external addrspace(3) global [0 x i8], align 16

declare float @__nv_expf(float)

; Function Attrs: nounwind
declare void @llvm.nvvm.griddepcontrol.wait() #0

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.full(float, float) #3

define ptx_kernel void @triton_softmax_1(ptr noalias align 16 dereferenceable(4096) %arg0, ptr noalias align 16 dereferenceable(128) %arg1, ptr noalias align 16 dereferenceable(4096) %arg2) #4 {
  %1 = addrspacecast ptr %arg0 to ptr addrspace(1)
  %2 = addrspacecast ptr %arg1 to ptr addrspace(1)
  %3 = addrspacecast ptr %arg2 to ptr addrspace(1)
  %4 = addrspacecast ptr null to ptr addrspace(1)
  %5 = addrspacecast ptr null to ptr addrspace(1)
  call void @llvm.nvvm.griddepcontrol.wait()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = sext i32 %6 to i64
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = and i32 %8, 31
  %10 = shl i32 %9, 0
  %11 = or i32 0, %10
  %12 = and i32 %11, 31
  %13 = lshr i32 %12, 0
  %14 = or disjoint i32 %13, 0
  %15 = xor i32 0, %14
  %16 = xor i32 %15, 0
  %17 = add i32 %16, 0
  %18 = sext i32 %17 to i64
  %19 = icmp slt i64 %7, 32
  %20 = icmp sge i64 %7, 0
  %21 = and i1 %20, %19
  %22 = mul i64 %7, 32
  %23 = getelementptr float, ptr addrspace(1) %1, i64 %22
  %24 = getelementptr float, ptr addrspace(1) %23, i64 %18
  %25 = call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %24, i1 %21)
  %26 = bitcast i32 %25 to <1 x float>
  %27 = extractelement <1 x float> %26, i32 0
  %28 = sub i64 32, %7
  %29 = icmp sgt i64 %28, 0
  %30 = sub i64 0, %7
  %31 = icmp sle i64 %30, 0
  %32 = and i1 %31, %29
  %33 = getelementptr float, ptr addrspace(1) %2, i64 %7
  %34 = call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %33, i1 %32)
  %35 = bitcast i32 %34 to <1 x float>
  %36 = extractelement <1 x float> %35, i32 0
  %37 = fsub float %27, %36
  %38 = call float @__nv_expf(float %37)
  %39 = bitcast float %38 to i32
  %40 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %39, i32 16, i32 31)
  %41 = bitcast i32 %40 to float
  %42 = fadd float %38, %41
  %43 = bitcast float %42 to i32
  %44 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %43, i32 8, i32 31)
  %45 = bitcast i32 %44 to float
  %46 = fadd float %42, %45
  %47 = bitcast float %46 to i32
  %48 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %47, i32 4, i32 31)
  %49 = bitcast i32 %48 to float
  %50 = fadd float %46, %49
  %51 = bitcast float %50 to i32
  %52 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %51, i32 2, i32 31)
  %53 = bitcast i32 %52 to float
  %54 = fadd float %50, %53
  %55 = bitcast float %54 to i32
  %56 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %55, i32 1, i32 31)
  %57 = bitcast i32 %56 to float
  %58 = fadd float %54, %57
  %59 = fadd float %58, 0.000000e+00
  %60 = call float @llvm.nvvm.div.full(float %38, float %59)
  %61 = getelementptr float, ptr addrspace(1) %3, i64 %22
  %62 = getelementptr float, ptr addrspace(1) %61, i64 %18
  %63 = insertelement <1 x float> undef, float %60, i32 0
  %64 = bitcast <1 x float> %63 to i32
  call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %64, ptr addrspace(1) %62, i1 %21)
  ret void
}

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none) }
attributes #4 = { "nvvm.reqntid"="32,1,1" }

!llvm.module.flags = !{!0}
!nvvm.annotations = !{}

!0 = !{i32 2, !"Debug Info Version", i32 3}
