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

define ptx_kernel void @triton_softmax_1(ptr noalias align 256 dereferenceable(4096) %arg0, ptr noalias align 256 dereferenceable(128) %arg1, ptr noalias align 256 dereferenceable(4096) %arg2) #4 {
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
  %19 = mul i64 %7, 32
  %20 = getelementptr float, ptr addrspace(1) %1, i64 %19
  %21 = getelementptr float, ptr addrspace(1) %20, i64 %18
  %22 = call i32 asm sideeffect "mov.u32 $0, 0x0; ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %21)
  %23 = bitcast i32 %22 to <1 x float>
  %24 = extractelement <1 x float> %23, i32 0
  %25 = sub i64 32, %7
  %26 = icmp sgt i64 %25, 0
  %27 = getelementptr float, ptr addrspace(1) %2, i64 %7
  %28 = call i32 asm sideeffect "mov.u32 $0, $1; @$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %27, i1 %26)
  %29 = bitcast i32 %28 to <1 x float>
  %30 = extractelement <1 x float> %29, i32 0
  %31 = fsub float %24, %30
  %32 = call float @__nv_expf(float %31)
  %33 = bitcast float %32 to i32
  %34 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %33, i32 16, i32 31)
  %35 = bitcast i32 %34 to float
  %36 = fadd float %32, %35
  %37 = bitcast float %36 to i32
  %38 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %37, i32 8, i32 31)
  %39 = bitcast i32 %38 to float
  %40 = fadd float %36, %39
  %41 = bitcast float %40 to i32
  %42 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %41, i32 4, i32 31)
  %43 = bitcast i32 %42 to float
  %44 = fadd float %40, %43
  %45 = bitcast float %44 to i32
  %46 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %45, i32 2, i32 31)
  %47 = bitcast i32 %46 to float
  %48 = fadd float %44, %47
  %49 = bitcast float %48 to i32
  %50 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %49, i32 1, i32 31)
  %51 = bitcast i32 %50 to float
  %52 = fadd float %48, %51
  %53 = call float @llvm.nvvm.div.full(float %32, float %52)
  %54 = getelementptr float, ptr addrspace(1) %3, i64 %19
  %55 = getelementptr float, ptr addrspace(1) %54, i64 %18
  %56 = insertelement <1 x float> undef, float %53, i32 0
  %57 = bitcast <1 x float> %56 to i32
  call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %57, ptr addrspace(1) %55)
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
