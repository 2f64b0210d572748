; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@global_smem = external addrspace(3) global [0 x i8], align 16

; Function Attrs: convergent nocallback nofree nounwind memory(none)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32, i32, i32, i32, i32, i32, float, float, float, float) #0

; Function Attrs: nounwind
declare void @llvm.nvvm.griddepcontrol.wait() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2

; Function Attrs: nounwind
declare void @llvm.nvvm.griddepcontrol.launch.dependents() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: convergent nocallback nounwind memory(argmem: write)
declare void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) writeonly captures(none), i32, i32, i32, i32) #4

; Function Attrs: convergent nocallback nofree nounwind memory(argmem: read)
declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) readonly captures(none)) #5

; Function Attrs: convergent nocallback nofree nounwind memory(argmem: read)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) readonly captures(none)) #5

; Function Attrs: nounwind
define ptx_kernel void @gemm_fusion_dot_general_1(ptr noalias align 16 dereferenceable(4096) %arg0, ptr noalias align 16 dereferenceable(4096) %arg1, ptr noalias align 16 dereferenceable(4096) %arg2) local_unnamed_addr #6 {
  %1 = addrspacecast ptr %arg0 to ptr addrspace(1)
  %2 = addrspacecast ptr %arg1 to ptr addrspace(1)
  %3 = addrspacecast ptr %arg2 to ptr addrspace(1)
  tail call void @llvm.nvvm.griddepcontrol.wait()
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = zext nneg i32 %4 to i64
  %6 = tail call range(i32 0, 64) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = and i32 %6, 3
  %8 = shl nuw nsw i32 %7, 2
  %9 = shl nuw nsw i32 %6, 3
  %10 = and i32 %9, 480
  %11 = or disjoint i32 %8, %10
  %12 = zext nneg i32 %11 to i64
  %13 = shl nuw nsw i64 %5, 7
  %14 = and i64 %13, 274877906432
  %15 = shl nuw nsw i64 %5, 3
  %16 = and i64 %15, 24
  %17 = shl nuw nsw i32 %7, 1
  %18 = or disjoint i32 %17, %10
  %19 = zext nneg i32 %18 to i64
  %invariant.gep = getelementptr [4 x i8], ptr addrspace(1) %1, i64 %14
  %invariant.gep8 = getelementptr [4 x i8], ptr addrspace(1) %invariant.gep, i64 %12
  %20 = shl nuw nsw i32 %6, 4
  %21 = shl nuw nsw i32 %6, 1
  %22 = and i32 %21, 48
  %23 = xor i32 %22, %20
  %24 = zext nneg i32 %23 to i64
  %25 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i64 %24
  %26 = shl nuw nsw i32 %6, 6
  %27 = and i32 %26, 960
  %28 = and i32 %9, 48
  %29 = and i32 %6, 16
  %30 = xor i32 %28, %29
  %31 = or disjoint i32 %30, %27
  %32 = zext nneg i32 %31 to i64
  %33 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i64 %32
  %34 = xor i32 %31, 32
  %35 = zext nneg i32 %34 to i64
  %36 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i64 %35
  %37 = getelementptr [4 x i8], ptr addrspace(1) %2, i64 %16
  %invariant.gep10 = getelementptr [4 x i8], ptr addrspace(1) %37, i64 %19
  %38 = zext nneg i32 %9 to i64
  %39 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i64 %38
  %40 = shl nuw nsw i32 %7, 5
  %41 = and i32 %6, 28
  %42 = or disjoint i32 %40, %41
  %43 = zext nneg i32 %42 to i64
  %44 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i64 %43
  %45 = getelementptr inbounds nuw i8, ptr addrspace(3) %44, i64 128
  %46 = getelementptr inbounds nuw i8, ptr addrspace(3) %44, i64 256
  %47 = getelementptr inbounds nuw i8, ptr addrspace(3) %44, i64 384
  %48 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l"(ptr addrspace(1) %invariant.gep8) #1
  %49 = extractvalue { i32, i32, i32, i32 } %48, 0
  %50 = extractvalue { i32, i32, i32, i32 } %48, 1
  %51 = extractvalue { i32, i32, i32, i32 } %48, 2
  %52 = extractvalue { i32, i32, i32, i32 } %48, 3
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %53 = insertelement <4 x i32> poison, i32 %49, i64 0
  %54 = insertelement <4 x i32> %53, i32 %50, i64 1
  %55 = insertelement <4 x i32> %54, i32 %51, i64 2
  %56 = insertelement <4 x i32> %55, i32 %52, i64 3
  store <4 x i32> %56, ptr addrspace(3) %25, align 16
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %57 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %33)
  %58 = extractvalue { i32, i32, i32, i32 } %57, 0
  %59 = extractvalue { i32, i32, i32, i32 } %57, 1
  %60 = extractvalue { i32, i32, i32, i32 } %57, 2
  %61 = extractvalue { i32, i32, i32, i32 } %57, 3
  %62 = bitcast i32 %58 to float
  %63 = bitcast i32 %59 to float
  %64 = bitcast i32 %60 to float
  %65 = bitcast i32 %61 to float
  %66 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %36)
  %67 = extractvalue { i32, i32, i32, i32 } %66, 0
  %68 = extractvalue { i32, i32, i32, i32 } %66, 1
  %69 = extractvalue { i32, i32, i32, i32 } %66, 2
  %70 = extractvalue { i32, i32, i32, i32 } %66, 3
  %71 = bitcast i32 %67 to float
  %72 = bitcast i32 %68 to float
  %73 = bitcast i32 %69 to float
  %74 = bitcast i32 %70 to float
  %75 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", "=r,=r,l"(ptr addrspace(1) %invariant.gep10) #1
  %76 = extractvalue { i32, i32 } %75, 0
  %77 = extractvalue { i32, i32 } %75, 1
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %78 = insertelement <2 x i32> poison, i32 %76, i64 0
  %79 = insertelement <2 x i32> %78, i32 %77, i64 1
  store <2 x i32> %79, ptr addrspace(3) %39, align 8
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %80 = load float, ptr addrspace(3) %44, align 4
  %81 = load float, ptr addrspace(3) %45, align 4
  %82 = load float, ptr addrspace(3) %46, align 4
  %83 = load float, ptr addrspace(3) %47, align 4
  %84 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %62) #1
  %85 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %63) #1
  %86 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %64) #1
  %87 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %65) #1
  %88 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %71) #1
  %89 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %72) #1
  %90 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %73) #1
  %91 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %74) #1
  %92 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %80) #1
  %93 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %81) #1
  %94 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %82) #1
  %95 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %83) #1
  %96 = bitcast float %84 to i32
  %97 = bitcast float %85 to i32
  %98 = bitcast float %86 to i32
  %99 = bitcast float %87 to i32
  %100 = bitcast float %88 to i32
  %101 = bitcast float %89 to i32
  %102 = bitcast float %90 to i32
  %103 = bitcast float %91 to i32
  %104 = bitcast float %92 to i32
  %105 = bitcast float %93 to i32
  %106 = bitcast float %94 to i32
  %107 = bitcast float %95 to i32
  %108 = tail call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %96, i32 %97, i32 %98, i32 %99, i32 %104, i32 %105, float 0.000000e+00, float 0.000000e+00, float 0.000000e+00, float 0.000000e+00)
  %109 = extractvalue { float, float, float, float } %108, 0
  %110 = extractvalue { float, float, float, float } %108, 1
  %111 = extractvalue { float, float, float, float } %108, 2
  %112 = extractvalue { float, float, float, float } %108, 3
  %113 = tail call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %100, i32 %101, i32 %102, i32 %103, i32 %106, i32 %107, float %109, float %110, float %111, float %112)
  %114 = extractvalue { float, float, float, float } %113, 0
  %115 = extractvalue { float, float, float, float } %113, 1
  %116 = extractvalue { float, float, float, float } %113, 2
  %117 = extractvalue { float, float, float, float } %113, 3
  %gep9.1 = getelementptr i8, ptr addrspace(1) %invariant.gep8, i64 64
  %118 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l"(ptr addrspace(1) %gep9.1) #1
  %119 = extractvalue { i32, i32, i32, i32 } %118, 0
  %120 = extractvalue { i32, i32, i32, i32 } %118, 1
  %121 = extractvalue { i32, i32, i32, i32 } %118, 2
  %122 = extractvalue { i32, i32, i32, i32 } %118, 3
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %123 = insertelement <4 x i32> poison, i32 %119, i64 0
  %124 = insertelement <4 x i32> %123, i32 %120, i64 1
  %125 = insertelement <4 x i32> %124, i32 %121, i64 2
  %126 = insertelement <4 x i32> %125, i32 %122, i64 3
  store <4 x i32> %126, ptr addrspace(3) %25, align 16
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %127 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %33)
  %128 = extractvalue { i32, i32, i32, i32 } %127, 0
  %129 = extractvalue { i32, i32, i32, i32 } %127, 1
  %130 = extractvalue { i32, i32, i32, i32 } %127, 2
  %131 = extractvalue { i32, i32, i32, i32 } %127, 3
  %132 = bitcast i32 %128 to float
  %133 = bitcast i32 %129 to float
  %134 = bitcast i32 %130 to float
  %135 = bitcast i32 %131 to float
  %136 = tail call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %36)
  %137 = extractvalue { i32, i32, i32, i32 } %136, 0
  %138 = extractvalue { i32, i32, i32, i32 } %136, 1
  %139 = extractvalue { i32, i32, i32, i32 } %136, 2
  %140 = extractvalue { i32, i32, i32, i32 } %136, 3
  %141 = bitcast i32 %137 to float
  %142 = bitcast i32 %138 to float
  %143 = bitcast i32 %139 to float
  %144 = bitcast i32 %140 to float
  %gep.1 = getelementptr i8, ptr addrspace(1) %invariant.gep10, i64 2048
  %145 = tail call { i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", "=r,=r,l"(ptr addrspace(1) %gep.1) #1
  %146 = extractvalue { i32, i32 } %145, 0
  %147 = extractvalue { i32, i32 } %145, 1
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %148 = insertelement <2 x i32> poison, i32 %146, i64 0
  %149 = insertelement <2 x i32> %148, i32 %147, i64 1
  store <2 x i32> %149, ptr addrspace(3) %39, align 8
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %150 = load float, ptr addrspace(3) %44, align 4
  %151 = load float, ptr addrspace(3) %45, align 4
  %152 = load float, ptr addrspace(3) %46, align 4
  %153 = load float, ptr addrspace(3) %47, align 4
  %154 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %132) #1
  %155 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %133) #1
  %156 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %134) #1
  %157 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %135) #1
  %158 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %141) #1
  %159 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %142) #1
  %160 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %143) #1
  %161 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %144) #1
  %162 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %150) #1
  %163 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %151) #1
  %164 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %152) #1
  %165 = tail call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %153) #1
  %166 = bitcast float %154 to i32
  %167 = bitcast float %155 to i32
  %168 = bitcast float %156 to i32
  %169 = bitcast float %157 to i32
  %170 = bitcast float %158 to i32
  %171 = bitcast float %159 to i32
  %172 = bitcast float %160 to i32
  %173 = bitcast float %161 to i32
  %174 = bitcast float %162 to i32
  %175 = bitcast float %163 to i32
  %176 = bitcast float %164 to i32
  %177 = bitcast float %165 to i32
  %178 = tail call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %166, i32 %167, i32 %168, i32 %169, i32 %174, i32 %175, float %114, float %115, float %116, float %117)
  %179 = extractvalue { float, float, float, float } %178, 0
  %180 = extractvalue { float, float, float, float } %178, 1
  %181 = extractvalue { float, float, float, float } %178, 2
  %182 = extractvalue { float, float, float, float } %178, 3
  %183 = tail call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %170, i32 %171, i32 %172, i32 %173, i32 %176, i32 %177, float %179, float %180, float %181, float %182)
  %184 = extractvalue { float, float, float, float } %183, 0
  %185 = extractvalue { float, float, float, float } %183, 1
  %186 = extractvalue { float, float, float, float } %183, 2
  %187 = extractvalue { float, float, float, float } %183, 3
  tail call void @llvm.nvvm.griddepcontrol.launch.dependents()
  %188 = tail call float @llvm.nvvm.fabs.f32(float %184)
  %189 = fmul float %188, 2.885390e+00
  %190 = tail call float @llvm.nvvm.ex2.approx.ftz.f32(float %189)
  %191 = fadd float %190, 1.000000e+00
  %192 = tail call float asm "rcp.approx.ftz.f32 $0,$1;", "=f,f"(float %191) #10, !srcloc !3
  %193 = tail call float @llvm.fma.f32(float %192, float -2.000000e+00, float 1.000000e+00)
  %194 = fcmp oge float %188, f0x41102CB4
  %s.0.i = select i1 %194, float 1.000000e+00, float %193
  %195 = tail call float @llvm.copysign.f32(float %s.0.i, float %184) #1
  %196 = fmul float %184, %184
  %197 = tail call float @llvm.fma.f32(float %196, float f0x3C80F082, float f0xBD563CAE)
  %198 = tail call float @llvm.fma.f32(float %197, float %196, float f0x3E085941)
  %199 = tail call float @llvm.fma.f32(float %198, float %196, float f0xBEAAA9ED)
  %200 = tail call float @llvm.fma.f32(float %199, float %196, float 0.000000e+00)
  %201 = tail call float @llvm.fma.f32(float %200, float %184, float %184)
  %202 = fcmp oge float %188, 6.000000e-01
  %.01.i = select i1 %202, float %195, float %201
  %203 = tail call float @llvm.nvvm.fabs.f32(float %185)
  %204 = fmul float %203, 2.885390e+00
  %205 = tail call float @llvm.nvvm.ex2.approx.ftz.f32(float %204)
  %206 = fadd float %205, 1.000000e+00
  %207 = tail call float asm "rcp.approx.ftz.f32 $0,$1;", "=f,f"(float %206) #10, !srcloc !3
  %208 = tail call float @llvm.fma.f32(float %207, float -2.000000e+00, float 1.000000e+00)
  %209 = fcmp oge float %203, f0x41102CB4
  %s.0.i2 = select i1 %209, float 1.000000e+00, float %208
  %210 = tail call float @llvm.copysign.f32(float %s.0.i2, float %185) #1
  %211 = fmul float %185, %185
  %212 = tail call float @llvm.fma.f32(float %211, float f0x3C80F082, float f0xBD563CAE)
  %213 = tail call float @llvm.fma.f32(float %212, float %211, float f0x3E085941)
  %214 = tail call float @llvm.fma.f32(float %213, float %211, float f0xBEAAA9ED)
  %215 = tail call float @llvm.fma.f32(float %214, float %211, float 0.000000e+00)
  %216 = tail call float @llvm.fma.f32(float %215, float %185, float %185)
  %217 = fcmp oge float %203, 6.000000e-01
  %.01.i3 = select i1 %217, float %210, float %216
  %218 = tail call float @llvm.nvvm.fabs.f32(float %186)
  %219 = fmul float %218, 2.885390e+00
  %220 = tail call float @llvm.nvvm.ex2.approx.ftz.f32(float %219)
  %221 = fadd float %220, 1.000000e+00
  %222 = tail call float asm "rcp.approx.ftz.f32 $0,$1;", "=f,f"(float %221) #10, !srcloc !3
  %223 = tail call float @llvm.fma.f32(float %222, float -2.000000e+00, float 1.000000e+00)
  %224 = fcmp oge float %218, f0x41102CB4
  %s.0.i4 = select i1 %224, float 1.000000e+00, float %223
  %225 = tail call float @llvm.copysign.f32(float %s.0.i4, float %186) #1
  %226 = fmul float %186, %186
  %227 = tail call float @llvm.fma.f32(float %226, float f0x3C80F082, float f0xBD563CAE)
  %228 = tail call float @llvm.fma.f32(float %227, float %226, float f0x3E085941)
  %229 = tail call float @llvm.fma.f32(float %228, float %226, float f0xBEAAA9ED)
  %230 = tail call float @llvm.fma.f32(float %229, float %226, float 0.000000e+00)
  %231 = tail call float @llvm.fma.f32(float %230, float %186, float %186)
  %232 = fcmp oge float %218, 6.000000e-01
  %.01.i5 = select i1 %232, float %225, float %231
  %233 = tail call float @llvm.nvvm.fabs.f32(float %187)
  %234 = fmul float %233, 2.885390e+00
  %235 = tail call float @llvm.nvvm.ex2.approx.ftz.f32(float %234)
  %236 = fadd float %235, 1.000000e+00
  %237 = tail call float asm "rcp.approx.ftz.f32 $0,$1;", "=f,f"(float %236) #10, !srcloc !3
  %238 = tail call float @llvm.fma.f32(float %237, float -2.000000e+00, float 1.000000e+00)
  %239 = fcmp oge float %233, f0x41102CB4
  %s.0.i6 = select i1 %239, float 1.000000e+00, float %238
  %240 = tail call float @llvm.copysign.f32(float %s.0.i6, float %187) #1
  %241 = fmul float %187, %187
  %242 = tail call float @llvm.fma.f32(float %241, float f0x3C80F082, float f0xBD563CAE)
  %243 = tail call float @llvm.fma.f32(float %242, float %241, float f0x3E085941)
  %244 = tail call float @llvm.fma.f32(float %243, float %241, float f0xBEAAA9ED)
  %245 = tail call float @llvm.fma.f32(float %244, float %241, float 0.000000e+00)
  %246 = tail call float @llvm.fma.f32(float %245, float %187, float %187)
  %247 = fcmp oge float %233, 6.000000e-01
  %.01.i7 = select i1 %247, float %240, float %246
  %248 = getelementptr [4 x i8], ptr addrspace(1) %3, i64 %16
  %249 = getelementptr [4 x i8], ptr addrspace(1) %248, i64 %14
  %250 = getelementptr [4 x i8], ptr addrspace(1) %249, i64 %19
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %251 = and i32 %20, 112
  %252 = shl nuw nsw i32 %6, 5
  %253 = and i32 %252, 256
  %254 = and i32 %9, 128
  %255 = or disjoint i32 %251, %253
  %256 = or disjoint i32 %255, %254
  %257 = zext nneg i32 %256 to i64
  %258 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i64 %257
  %259 = bitcast float %.01.i to i32
  %260 = bitcast float %.01.i3 to i32
  %261 = bitcast float %.01.i5 to i32
  %262 = bitcast float %.01.i7 to i32
  tail call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %258, i32 %259, i32 %260, i32 %261, i32 %262)
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %263 = lshr i32 %6, 1
  %264 = or i32 %263, %6
  %265 = shl nuw nsw i32 %264, 3
  %266 = and i32 %265, 128
  %267 = or disjoint i32 %266, %255
  %268 = zext nneg i32 %267 to i64
  %269 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i64 %268
  %270 = tail call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) %269)
  %271 = extractvalue { i32, i32 } %270, 0
  %272 = extractvalue { i32, i32 } %270, 1
  tail call void asm sideeffect "st.global.v2.b32 [ $2 + 0 ], { $0, $1 };", "r,r,l"(i32 %271, i32 %272, ptr addrspace(1) %250) #1
  ret void
}

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.nvvm.fabs.f32(float) #7

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.ex2.approx.ftz.f32(float) #8

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.copysign.f32(float, float) #7

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #9

attributes #0 = { convergent nocallback nofree nounwind memory(none) }
attributes #1 = { nounwind }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { convergent nocallback nounwind memory(argmem: write) }
attributes #5 = { convergent nocallback nofree nounwind memory(argmem: read) }
attributes #6 = { nounwind "nvvm.reqntid"="64,1,1" }
attributes #7 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { mustprogress nocallback nofree nosync nounwind willreturn memory(none) }
attributes #9 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #10 = { nounwind memory(none) }

!llvm.module.flags = !{!0, !28}
!nvvm.annotations = !{}
!llvm.ident = !{!1}
!nvvmir.version = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{!"clang version 3.8.0 (tags/RELEASE_380/final)"}
!2 = !{i32 2, i32 0}
!3 = !{i32 21352}
!28 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
