; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@global_smem = external addrspace(3) global [0 x i8], align 16

declare float @__nv_tanhf(float)

; Function Attrs: nounwind
declare void @llvm.nvvm.griddepcontrol.wait() #0

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

; Function Attrs: convergent nocallback nounwind memory(argmem: write)
declare void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) writeonly captures(none), i32, i32, i32, i32) #3

; Function Attrs: convergent nocallback nounwind memory(argmem: read)
declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) readonly captures(none)) #4

; Function Attrs: convergent nocallback nounwind memory(argmem: read)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) readonly captures(none)) #4

define ptx_kernel void @gemm_fusion_dot_general_1(ptr noalias align 16 dereferenceable(4096) %arg0, ptr noalias align 16 dereferenceable(4096) %arg1, ptr noalias align 256 dereferenceable(4096) %arg2) #5 {
  %1 = addrspacecast ptr %arg0 to ptr addrspace(1)
  %2 = addrspacecast ptr %arg1 to ptr addrspace(1)
  %3 = addrspacecast ptr %arg2 to ptr addrspace(1)
  %4 = addrspacecast ptr null to ptr addrspace(1)
  %5 = addrspacecast ptr null to ptr addrspace(1)
  call void @llvm.nvvm.griddepcontrol.wait()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = sext i32 %6 to i64
  %8 = udiv i64 %7, 4
  %9 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %10 = and i32 %9, 63
  %11 = urem i32 %10, 32
  %12 = udiv i32 %9, 32
  %13 = shl i32 %11, 0
  %14 = or i32 0, %13
  %15 = shl i32 %12, 5
  %16 = or i32 %14, %15
  %17 = and i32 %16, 60
  %18 = lshr i32 %17, 2
  %19 = or disjoint i32 %18, 0
  %20 = xor i32 0, %19
  %21 = xor i32 %20, 0
  %22 = add i32 %21, 0
  %23 = and i32 %16, 3
  %24 = shl i32 %23, 2
  %25 = or disjoint i32 %24, 0
  %26 = xor i32 0, %25
  %27 = xor i32 %26, 0
  %28 = add i32 %27, 0
  %29 = sext i32 %22 to i64
  %30 = sext i32 %28 to i64
  %31 = mul i64 %29, 32
  %32 = add i64 %30, %31
  %33 = mul i64 %8, 512
  %34 = urem i64 %7, 4
  %35 = mul i64 %34, 8
  %36 = shl i32 %23, 1
  %37 = or disjoint i32 %36, 0
  %38 = xor i32 0, %37
  %39 = xor i32 %38, 0
  %40 = add i32 %39, 0
  %41 = sext i32 %40 to i64
  %42 = add i64 %41, %31
  br label %43

43:                                               ; preds = %47, %0
  %44 = phi i32 [ %254, %47 ], [ 0, %0 ]
  %45 = phi { float, float, float, float } [ %253, %47 ], [ zeroinitializer, %0 ]
  %46 = icmp slt i32 %44, 2
  br i1 %46, label %47, label %255

47:                                               ; preds = %43
  %48 = sext i32 %44 to i64
  %49 = mul i64 %48, 16
  %50 = add i64 %49, %33
  %51 = getelementptr float, ptr addrspace(1) %1, i64 %50
  %52 = getelementptr float, ptr addrspace(1) %51, i64 %32
  %53 = call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0; mov.u32 $1, 0x0; mov.u32 $2, 0x0; mov.u32 $3, 0x0; ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l"(ptr addrspace(1) %52)
  %54 = extractvalue { i32, i32, i32, i32 } %53, 0
  %55 = bitcast i32 %54 to <1 x float>
  %56 = extractvalue { i32, i32, i32, i32 } %53, 1
  %57 = bitcast i32 %56 to <1 x float>
  %58 = extractvalue { i32, i32, i32, i32 } %53, 2
  %59 = bitcast i32 %58 to <1 x float>
  %60 = extractvalue { i32, i32, i32, i32 } %53, 3
  %61 = bitcast i32 %60 to <1 x float>
  %62 = extractelement <1 x float> %55, i32 0
  %63 = extractelement <1 x float> %57, i32 0
  %64 = extractelement <1 x float> %59, i32 0
  %65 = extractelement <1 x float> %61, i32 0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %66 = and i32 %16, 63
  %67 = shl i32 %66, 4
  %68 = and i32 %16, 24
  %69 = shl i32 %68, 1
  %70 = xor i32 %67, %69
  %71 = or disjoint i32 0, %70
  %72 = xor i32 0, %71
  %73 = xor i32 %72, 0
  %74 = xor i32 %73, 0
  %75 = add i32 %74, 0
  %76 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %75
  %77 = insertelement <4 x float> undef, float %62, i32 0
  %78 = insertelement <4 x float> %77, float %63, i32 1
  %79 = insertelement <4 x float> %78, float %64, i32 2
  %80 = insertelement <4 x float> %79, float %65, i32 3
  %81 = extractelement <4 x float> %80, i32 0
  %82 = extractelement <4 x float> %80, i32 1
  %83 = extractelement <4 x float> %80, i32 2
  %84 = extractelement <4 x float> %80, i32 3
  %85 = bitcast float %81 to i32
  %86 = bitcast float %82 to i32
  %87 = bitcast float %83 to i32
  %88 = bitcast float %84 to i32
  %89 = insertelement <4 x i32> undef, i32 %85, i32 0
  %90 = insertelement <4 x i32> %89, i32 %86, i32 1
  %91 = insertelement <4 x i32> %90, i32 %87, i32 2
  %92 = insertelement <4 x i32> %91, i32 %88, i32 3
  store <4 x i32> %92, ptr addrspace(3) %76, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %93 = and i32 %16, 15
  %94 = shl i32 %93, 6
  %95 = and i32 %16, 6
  %96 = shl i32 %95, 3
  %97 = and i32 %16, 16
  %98 = xor i32 %96, %97
  %99 = or disjoint i32 %94, %98
  %100 = xor i32 0, %99
  %101 = xor i32 %100, 0
  %102 = xor i32 %101, 0
  %103 = add i32 %102, 0
  %104 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %103
  %105 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %104)
  %106 = extractvalue { i32, i32, i32, i32 } %105, 0
  %107 = bitcast i32 %106 to <1 x float>
  %108 = extractelement <1 x float> %107, i32 0
  %109 = extractvalue { i32, i32, i32, i32 } %105, 1
  %110 = bitcast i32 %109 to <1 x float>
  %111 = extractelement <1 x float> %110, i32 0
  %112 = extractvalue { i32, i32, i32, i32 } %105, 2
  %113 = bitcast i32 %112 to <1 x float>
  %114 = extractelement <1 x float> %113, i32 0
  %115 = extractvalue { i32, i32, i32, i32 } %105, 3
  %116 = bitcast i32 %115 to <1 x float>
  %117 = extractelement <1 x float> %116, i32 0
  %118 = xor i32 %101, 32
  %119 = add i32 %118, 0
  %120 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %119
  %121 = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %120)
  %122 = extractvalue { i32, i32, i32, i32 } %121, 0
  %123 = bitcast i32 %122 to <1 x float>
  %124 = extractelement <1 x float> %123, i32 0
  %125 = extractvalue { i32, i32, i32, i32 } %121, 1
  %126 = bitcast i32 %125 to <1 x float>
  %127 = extractelement <1 x float> %126, i32 0
  %128 = extractvalue { i32, i32, i32, i32 } %121, 2
  %129 = bitcast i32 %128 to <1 x float>
  %130 = extractelement <1 x float> %129, i32 0
  %131 = extractvalue { i32, i32, i32, i32 } %121, 3
  %132 = bitcast i32 %131 to <1 x float>
  %133 = extractelement <1 x float> %132, i32 0
  %134 = mul i64 %48, 512
  %135 = add i64 %35, %134
  %136 = getelementptr float, ptr addrspace(1) %2, i64 %135
  %137 = getelementptr float, ptr addrspace(1) %136, i64 %42
  %138 = call { i32, i32 } asm sideeffect "mov.u32 $0, 0x0; mov.u32 $1, 0x0; ld.global.v2.b32 { $0, $1 }, [ $2 + 0 ];", "=r,=r,l"(ptr addrspace(1) %137)
  %139 = extractvalue { i32, i32 } %138, 0
  %140 = bitcast i32 %139 to <1 x float>
  %141 = extractvalue { i32, i32 } %138, 1
  %142 = bitcast i32 %141 to <1 x float>
  %143 = extractelement <1 x float> %140, i32 0
  %144 = extractelement <1 x float> %142, i32 0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %145 = shl i32 %66, 3
  %146 = or disjoint i32 %145, 0
  %147 = xor i32 0, %146
  %148 = xor i32 %147, 0
  %149 = xor i32 %148, 0
  %150 = add i32 %149, 0
  %151 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %150
  %152 = insertelement <2 x float> undef, float %143, i32 0
  %153 = insertelement <2 x float> %152, float %144, i32 1
  %154 = extractelement <2 x float> %153, i32 0
  %155 = extractelement <2 x float> %153, i32 1
  %156 = bitcast float %154 to i32
  %157 = bitcast float %155 to i32
  %158 = insertelement <2 x i32> undef, i32 %156, i32 0
  %159 = insertelement <2 x i32> %158, i32 %157, i32 1
  store <2 x i32> %159, ptr addrspace(3) %151, align 8
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %160 = shl i32 %23, 5
  %161 = and i32 %16, 28
  %162 = lshr i32 %161, 0
  %163 = xor i32 %160, %162
  %164 = or disjoint i32 0, %163
  %165 = xor i32 0, %164
  %166 = xor i32 %165, 0
  %167 = xor i32 %166, 0
  %168 = add i32 %167, 0
  %169 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %168
  %170 = load i32, ptr addrspace(3) %169, align 4
  %171 = insertelement <1 x i32> undef, i32 %170, i32 0
  %172 = extractelement <1 x i32> %171, i32 0
  %173 = bitcast i32 %172 to float
  %174 = insertelement <1 x float> undef, float %173, i32 0
  %175 = extractelement <1 x float> %174, i32 0
  %176 = add i32 %167, 128
  %177 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %176
  %178 = load i32, ptr addrspace(3) %177, align 4
  %179 = insertelement <1 x i32> undef, i32 %178, i32 0
  %180 = extractelement <1 x i32> %179, i32 0
  %181 = bitcast i32 %180 to float
  %182 = insertelement <1 x float> undef, float %181, i32 0
  %183 = extractelement <1 x float> %182, i32 0
  %184 = add i32 %167, 256
  %185 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %184
  %186 = load i32, ptr addrspace(3) %185, align 4
  %187 = insertelement <1 x i32> undef, i32 %186, i32 0
  %188 = extractelement <1 x i32> %187, i32 0
  %189 = bitcast i32 %188 to float
  %190 = insertelement <1 x float> undef, float %189, i32 0
  %191 = extractelement <1 x float> %190, i32 0
  %192 = add i32 %167, 384
  %193 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %192
  %194 = load i32, ptr addrspace(3) %193, align 4
  %195 = insertelement <1 x i32> undef, i32 %194, i32 0
  %196 = extractelement <1 x i32> %195, i32 0
  %197 = bitcast i32 %196 to float
  %198 = insertelement <1 x float> undef, float %197, i32 0
  %199 = extractelement <1 x float> %198, i32 0
  %200 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %108)
  %201 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %111)
  %202 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %114)
  %203 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %117)
  %204 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %124)
  %205 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %127)
  %206 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %130)
  %207 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %133)
  %208 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %175)
  %209 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %183)
  %210 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %191)
  %211 = call float asm "cvt.rna.tf32.f32 $0, $1;", "=r,r"(float %199)
  %212 = insertelement <1 x float> undef, float %200, i32 0
  %213 = bitcast <1 x float> %212 to i32
  %214 = insertelement <1 x float> undef, float %201, i32 0
  %215 = bitcast <1 x float> %214 to i32
  %216 = insertelement <1 x float> undef, float %202, i32 0
  %217 = bitcast <1 x float> %216 to i32
  %218 = insertelement <1 x float> undef, float %203, i32 0
  %219 = bitcast <1 x float> %218 to i32
  %220 = insertelement <1 x float> undef, float %204, i32 0
  %221 = bitcast <1 x float> %220 to i32
  %222 = insertelement <1 x float> undef, float %205, i32 0
  %223 = bitcast <1 x float> %222 to i32
  %224 = insertelement <1 x float> undef, float %206, i32 0
  %225 = bitcast <1 x float> %224 to i32
  %226 = insertelement <1 x float> undef, float %207, i32 0
  %227 = bitcast <1 x float> %226 to i32
  %228 = insertelement <1 x float> undef, float %208, i32 0
  %229 = bitcast <1 x float> %228 to i32
  %230 = insertelement <1 x float> undef, float %209, i32 0
  %231 = bitcast <1 x float> %230 to i32
  %232 = insertelement <1 x float> undef, float %210, i32 0
  %233 = bitcast <1 x float> %232 to i32
  %234 = insertelement <1 x float> undef, float %211, i32 0
  %235 = bitcast <1 x float> %234 to i32
  %236 = extractvalue { float, float, float, float } %45, 0
  %237 = extractvalue { float, float, float, float } %45, 1
  %238 = extractvalue { float, float, float, float } %45, 2
  %239 = extractvalue { float, float, float, float } %45, 3
  %240 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %236, float %237, float %238, float %239, i32 %213, i32 %215, i32 %217, i32 %219, i32 %229, i32 %231)
  %241 = extractvalue { float, float, float, float } %240, 0
  %242 = extractvalue { float, float, float, float } %240, 1
  %243 = extractvalue { float, float, float, float } %240, 2
  %244 = extractvalue { float, float, float, float } %240, 3
  %245 = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { $0, $1, $2, $3 }, { $8, $9, $10, $11 }, { $12, $13 }, { $4, $5, $6, $7 };", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r"(float %241, float %242, float %243, float %244, i32 %221, i32 %223, i32 %225, i32 %227, i32 %233, i32 %235)
  %246 = extractvalue { float, float, float, float } %245, 0
  %247 = extractvalue { float, float, float, float } %245, 1
  %248 = extractvalue { float, float, float, float } %245, 2
  %249 = extractvalue { float, float, float, float } %245, 3
  %250 = insertvalue { float, float, float, float } undef, float %246, 0
  %251 = insertvalue { float, float, float, float } %250, float %247, 1
  %252 = insertvalue { float, float, float, float } %251, float %248, 2
  %253 = insertvalue { float, float, float, float } %252, float %249, 3
  %254 = add i32 %44, 1
  br label %43

255:                                              ; preds = %43
  %256 = extractvalue { float, float, float, float } %45, 0
  %257 = extractvalue { float, float, float, float } %45, 1
  %258 = extractvalue { float, float, float, float } %45, 2
  %259 = extractvalue { float, float, float, float } %45, 3
  %260 = call float @__nv_tanhf(float %256)
  %261 = call float @__nv_tanhf(float %257)
  %262 = call float @__nv_tanhf(float %258)
  %263 = call float @__nv_tanhf(float %259)
  %264 = add i64 %35, %33
  %265 = getelementptr float, ptr addrspace(1) %3, i64 %264
  %266 = getelementptr float, ptr addrspace(1) %265, i64 %42
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %267 = and i32 %16, 7
  %268 = shl i32 %267, 4
  %269 = and i32 %16, 8
  %270 = shl i32 %269, 5
  %271 = and i32 %16, 16
  %272 = shl i32 %271, 3
  %273 = or disjoint i32 %268, %270
  %274 = or disjoint i32 %273, %272
  %275 = or disjoint i32 %274, 0
  %276 = xor i32 0, %275
  %277 = xor i32 %276, 0
  %278 = xor i32 %277, 0
  %279 = add i32 %278, 0
  %280 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %279
  %281 = insertelement <1 x float> undef, float %260, i32 0
  %282 = bitcast <1 x float> %281 to i32
  %283 = insertelement <1 x float> undef, float %261, i32 0
  %284 = bitcast <1 x float> %283 to i32
  %285 = insertelement <1 x float> undef, float %262, i32 0
  %286 = bitcast <1 x float> %285 to i32
  %287 = insertelement <1 x float> undef, float %263, i32 0
  %288 = bitcast <1 x float> %287 to i32
  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %280, i32 %282, i32 %284, i32 %286, i32 %288)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %289 = shl i32 %12, 4
  %290 = or i32 %14, %289
  %291 = and i32 %290, 7
  %292 = shl i32 %291, 4
  %293 = and i32 %290, 8
  %294 = shl i32 %293, 5
  %295 = and i32 %290, 16
  %296 = shl i32 %295, 3
  %297 = or disjoint i32 %292, %294
  %298 = or disjoint i32 %297, %296
  %299 = or disjoint i32 %298, 0
  %300 = xor i32 0, %299
  %301 = xor i32 %300, 0
  %302 = xor i32 %301, 0
  %303 = add i32 %302, 0
  %304 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %303
  %305 = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) %304)
  %306 = extractvalue { i32, i32 } %305, 0
  %307 = bitcast i32 %306 to <1 x float>
  %308 = extractelement <1 x float> %307, i32 0
  %309 = extractvalue { i32, i32 } %305, 1
  %310 = bitcast i32 %309 to <1 x float>
  %311 = extractelement <1 x float> %310, i32 0
  %312 = insertelement <1 x float> undef, float %308, i32 0
  %313 = bitcast <1 x float> %312 to i32
  %314 = insertelement <1 x float> undef, float %311, i32 0
  %315 = bitcast <1 x float> %314 to i32
  call void asm sideeffect "st.global.v2.b32 [ $2 + 0 ], { $0, $1 };", "r,r,l"(i32 %313, i32 %315, ptr addrspace(1) %266)
  ret void
}

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { convergent nocallback nounwind memory(argmem: write) }
attributes #4 = { convergent nocallback nounwind memory(argmem: read) }
attributes #5 = { "nvvm.reqntid"="64,1,1" }

!llvm.module.flags = !{!0}
!nvvm.annotations = !{}

!0 = !{i32 2, !"Debug Info Version", i32 3}
