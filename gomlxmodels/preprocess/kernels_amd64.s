#include "textflag.h"

// Places of the bytes of four pixels: red, green and blue of pixels 0 and 1, each as a pair of 16 bits, in the low half,
// those of pixels 2 and 3 in the high half.
DATA colors<>+0(SB)/8, $0x8004800180038000
DATA colors<>+8(SB)/8, $0x8080808080058002
DATA colors<>+16(SB)/8, $0x800a800780098006
DATA colors<>+24(SB)/8, $0x80808080800b8008
GLOBL colors<>(SB), RODATA|NOPTR, $32

// Places of the low halves of four weights: those of pixels 0 and 1, three times, and of pixels 2 and 3. The high
// halves are 8 bytes after them.
DATA lows<>+0(SB)/8, $0x0302010003020100
DATA lows<>+8(SB)/8, $0x0302010003020100
DATA lows<>+16(SB)/8, $0x0706050407060504
DATA lows<>+24(SB)/8, $0x0706050407060504
GLOBL lows<>(SB), RODATA|NOPTR, $32
DATA highs<>+0(SB)/8, $0x0b0a09080b0a0908
DATA highs<>+8(SB)/8, $0x0b0a09080b0a0908
DATA highs<>+16(SB)/8, $0x0f0e0d0c0f0e0d0c
DATA highs<>+24(SB)/8, $0x0f0e0d0c0f0e0d0c
GLOBL highs<>(SB), RODATA|NOPTR, $32

// ADD adds the products of the pixels of a row and the weights in Y8 and Y9 to the sums of their halves.
#define ADD(at, low, high) \
	VBROADCASTI128 at, Y10; \
	VPSHUFB Y15, Y10, Y10; \
	VPMADDWD Y8, Y10, Y11; \
	VPMADDWD Y9, Y10, Y10; \
	VPADDD Y11, low, low; \
	VPADDD Y10, high, high

// BOTH adds up what two rows have in the halves of their registers: the first row in the low half of a, the second in
// the high half.
#define BOTH(a, b, x, highA, highB) \
	VPSLLD $16, highA, highA; \
	VPSLLD $16, highB, highB; \
	VPADDD highA, a, a; \
	VPADDD highB, b, b; \
	VPERM2I128 $0x31, b, a, highA; \
	VINSERTI128 $1, x, a, a; \
	VPADDD highA, a, a; \
	VPADDD Y9, a, a; \
	VPSRAD X14, a, a

// func acrossAVX2(dst *uint8, dstStride int, src *uint8, srcStride int, first *int, weights *group, n, groups int, half int32, bits uint)
TEXT ·acrossAVX2(SB), NOSPLIT, $0-80
	MOVQ dst+0(FP), DI
	MOVQ dstStride+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ srcStride+24(FP), BX
	MOVQ first+32(FP), DX
	MOVQ weights+40(FP), R11
	MOVQ n+48(FP), CX
	MOVQ groups+56(FP), R12
	VMOVQ bits+72(FP), X14
	LEAQ (R8)(R8*2), R9
	LEAQ (BX)(BX*2), R10
	VMOVDQU colors<>(SB), Y15
	VMOVDQU lows<>(SB), Y12
	VMOVDQU highs<>(SB), Y13

pixel:
	MOVQ (DX), AX
	ADDQ SI, AX
	MOVQ R12, R13
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

group:
	VBROADCASTI128 (R11), Y9
	VPSHUFB Y12, Y9, Y8
	VPSHUFB Y13, Y9, Y9
	ADD((AX), Y0, Y4)
	ADD((AX)(BX*1), Y1, Y5)
	ADD((AX)(BX*2), Y2, Y6)
	ADD((AX)(R10*1), Y3, Y7)
	ADDQ $12, AX
	ADDQ $16, R11
	DECQ R13
	JNZ group

	MOVL half+64(FP), AX
	VMOVD AX, X9
	VPBROADCASTD X9, Y9
	BOTH(Y0, Y1, X1, Y4, Y5)
	BOTH(Y2, Y3, X3, Y6, Y7)
	VPACKSSDW Y2, Y0, Y0 // rows 0 and 2, 1 and 3
	VPACKUSWB Y0, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPEXTRW $0, X0, (DI)
	VPEXTRB $2, X0, 2(DI)
	VPEXTRW $0, X1, (DI)(R8*1)
	VPEXTRB $2, X1, 2(DI)(R8*1)
	VPEXTRW $2, X0, (DI)(R8*2)
	VPEXTRB $6, X0, 2(DI)(R8*2)
	VPEXTRW $2, X1, (DI)(R9*1)
	VPEXTRB $6, X1, 2(DI)(R9*1)
	ADDQ $3, DI
	ADDQ $8, DX
	DECQ CX
	JNZ pixel
	VZEROUPPER
	RET

// WEIGH adds the products of pairs of bytes, 16 bits each, and the weights in Y12 and Y13 to the sums of their halves.
#define WEIGH(pairs, low, high) \
	VPMADDWD Y12, pairs, Y14; \
	VPADDD Y14, low, low; \
	VPMADDWD Y13, pairs, Y14; \
	VPADDD Y14, high, high

// ROUND adds the sums of the halves.
#define ROUND(low, high) \
	VPSLLD $16, high, high; \
	VPADDD high, low, low; \
	VPSRAD X12, low, low

// func downAVX2(dst, src *uint8, stride int, weights *pair, taps, n int, half int32, bits uint)
TEXT ·downAVX2(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), BX
	MOVQ weights+24(FP), R8
	MOVQ taps+32(FP), R11
	MOVQ n+40(FP), DX
	XORQ R12, R12
	VPXOR Y15, Y15, Y15

block:
	MOVQ SI, AX
	MOVQ R8, R9
	MOVQ R11, CX
	MOVL half+48(FP), R13
	VMOVD R13, X0
	VPBROADCASTD X0, Y0
	VMOVDQA Y0, Y1
	VMOVDQA Y0, Y2
	VMOVDQA Y0, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

rows:
	MOVQ BX, R10
	CMPQ CX, $1
	CMOVQEQ R12, R10 // the last row alone: it is its own neighbor, whose weight is 0
	VMOVDQU (AX), Y8
	VMOVDQU (AX)(R10*1), Y9
	VPBROADCASTD (R9), Y12
	VPBROADCASTD 4(R9), Y13
	VPUNPCKLBW Y9, Y8, Y10
	VPUNPCKHBW Y9, Y8, Y11
	VPUNPCKLBW Y15, Y10, Y8
	VPUNPCKHBW Y15, Y10, Y9
	VPUNPCKLBW Y15, Y11, Y10
	VPUNPCKHBW Y15, Y11, Y11
	WEIGH(Y8, Y0, Y4)
	WEIGH(Y9, Y1, Y5)
	WEIGH(Y10, Y2, Y6)
	WEIGH(Y11, Y3, Y7)
	LEAQ (AX)(BX*2), AX
	ADDQ $8, R9
	SUBQ $2, CX
	JG rows

	VMOVQ bits+56(FP), X12
	ROUND(Y0, Y4)
	ROUND(Y1, Y5)
	ROUND(Y2, Y6)
	ROUND(Y3, Y7)
	VPACKSSDW Y1, Y0, Y0
	VPACKSSDW Y3, Y2, Y2
	VPACKUSWB Y2, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $32, DX
	JG block
	VZEROUPPER
	RET
