#include "textflag.h"

// Two factors of 16 bits each: the low half is that of the first value of a pair.
DATA factors<>+0(SB)/4, $0xd6301151  // even2, of in2 and in6: fix0541, fix0541-fix1847
DATA factors<>+4(SB)/4, $0x115129cf  // even3: fix0541+fix0765, fix0541
DATA factors<>+8(SB)/4, $0x25a1e6dc  // z3, of in7+in3 and in5+in1: fix1175-fix1961, fix1175
DATA factors<>+12(SB)/4, $0x192525a1 // z4: fix1175, fix1175-fix0390
DATA factors<>+16(SB)/4, $0xe333ecc1 // odd0, of in7 and in1: fix0298-fix0899, -fix0899
DATA factors<>+20(SB)/4, $0x133ee333 // odd3: -fix0899, fix1501-fix0899
DATA factors<>+24(SB)/4, $0xadfdefb0 // odd1, of in5 and in3: fix2053-fix2562, -fix2562
DATA factors<>+28(SB)/4, $0x1051adfd // odd2: -fix2562, fix3072-fix2562
DATA factors<>+32(SB)/4, $0x492ea7e6 // green, of blue and red: -22554, 65536-46802
DATA factors<>+36(SB)/4, $0x66e966e9 // red: 91881-65536
DATA factors<>+40(SB)/4, $0xc5a2c5a2 // blue: 116130-131072
DATA factors<>+44(SB)/4, $0x00008000 // half of the fraction of 16 bits
DATA factors<>+48(SB)/4, $0x00800080 // center of the colors
DATA factors<>+52(SB)/4, $0x00010001
DATA factors<>+56(SB)/4, $0x80808080 // center of the pixels
DATA factors<>+60(SB)/4, $0x00000400 // half of the fraction after the columns
DATA factors<>+64(SB)/4, $0x00020000 // as above, after the rows
GLOBL factors<>(SB), RODATA|NOPTR, $68

// PAIR makes pairs of 16 bits of a and b: those of columns 0 to 3 in the low half of to.
#define PAIR(a, b, to, wide, high) \
	VPUNPCKLWD b, a, to; \
	VPUNPCKHWD b, a, high; \
	VINSERTI128 $1, high, wide, wide

// SUM is the sum of the products of pairs and factors.
#define SUM(pairs, at, to) \
	VPBROADCASTD factors<>+at(SB), Y15; \
	VPMADDWD Y15, pairs, to

// TRANSFORM is inverseRow on X0 to X7, eight times side by side. The results, shifted, are in Y8, Y9, Y10, Y12, Y11,
// Y13, Y14, Y15.
#define TRANSFORM(half, shift) \
	PAIR(X2, X6, X8, Y8, X9); \
	SUM(Y8, 0, Y9); \
	SUM(Y8, 4, Y8); \
	VPADDW X4, X0, X2; \
	VPSUBW X4, X0, X6; \
	VPMOVSXWD X2, Y2; \
	VPMOVSXWD X6, Y6; \
	VPSLLD $13, Y2, Y2; \
	VPSLLD $13, Y6, Y6; \
	VPBROADCASTD factors<>+half(SB), Y15; \
	VPADDD Y15, Y2, Y2; \
	VPADDD Y15, Y6, Y6; \
	VPADDD Y8, Y2, Y0; \
	VPSUBD Y8, Y2, Y2; \
	VPADDD Y9, Y6, Y4; \
	VPSUBD Y9, Y6, Y6; \
	VPADDW X3, X7, X8; \
	VPADDW X1, X5, X9; \
	PAIR(X8, X9, X10, Y10, X11); \
	SUM(Y10, 8, Y8); \
	SUM(Y10, 12, Y9); \
	PAIR(X7, X1, X10, Y10, X11); \
	SUM(Y10, 16, Y11); \
	SUM(Y10, 20, Y12); \
	VPADDD Y8, Y11, Y11; \
	VPADDD Y9, Y12, Y12; \
	PAIR(X5, X3, X10, Y10, X14); \
	SUM(Y10, 24, Y13); \
	SUM(Y10, 28, Y14); \
	VPADDD Y9, Y13, Y13; \
	VPADDD Y8, Y14, Y14; \
	VPADDD Y12, Y0, Y8; \
	VPSUBD Y12, Y0, Y15; \
	VPADDD Y14, Y4, Y9; \
	VPSUBD Y14, Y4, Y14; \
	VPADDD Y13, Y6, Y10; \
	VPSUBD Y13, Y6, Y13; \
	VPADDD Y11, Y2, Y12; \
	VPSUBD Y11, Y2, Y11; \
	VPSRAD shift, Y8, Y8; \
	VPSRAD shift, Y9, Y9; \
	VPSRAD shift, Y10, Y10; \
	VPSRAD shift, Y12, Y12; \
	VPSRAD shift, Y11, Y11; \
	VPSRAD shift, Y13, Y13; \
	VPSRAD shift, Y14, Y14; \
	VPSRAD shift, Y15, Y15; \
	VPACKSSDW Y9, Y8, Y8; \
	VPACKSSDW Y12, Y10, Y10; \
	VPACKSSDW Y13, Y11, Y11; \
	VPACKSSDW Y15, Y14, Y14

// TRANSPOSE turns rows into columns: from Y8, Y10, Y11, Y14, which hold columns 0 to 3 of two rows and then columns 4
// to 7, to Y0, Y1, Y2, Y3, which hold columns 0 and 4, 1 and 5, 2 and 6, 3 and 7.
#define TRANSPOSE \
	VPUNPCKLWD Y10, Y8, Y0; \
	VPUNPCKHWD Y10, Y8, Y1; \
	VPUNPCKLWD Y14, Y11, Y2; \
	VPUNPCKHWD Y14, Y11, Y3; \
	VPUNPCKLWD Y1, Y0, Y4; \
	VPUNPCKHWD Y1, Y0, Y5; \
	VPUNPCKLWD Y3, Y2, Y6; \
	VPUNPCKHWD Y3, Y2, Y7; \
	VPUNPCKLQDQ Y6, Y4, Y0; \
	VPUNPCKHQDQ Y6, Y4, Y1; \
	VPUNPCKLQDQ Y7, Y5, Y2; \
	VPUNPCKHQDQ Y7, Y5, Y3

// func inverseAVX2(dst *uint8, stride int, b, quant *[64]int16)
TEXT ·inverseAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), BX
	MOVQ b+16(FP), SI
	MOVQ quant+24(FP), DX

	VMOVDQU 0(SI), X0
	VMOVDQU 16(SI), X1
	VMOVDQU 32(SI), X2
	VMOVDQU 48(SI), X3
	VMOVDQU 64(SI), X4
	VMOVDQU 80(SI), X5
	VMOVDQU 96(SI), X6
	VMOVDQU 112(SI), X7
	VPOR X1, X2, X8
	VPOR X3, X4, X9
	VPOR X5, X6, X10
	VPOR X8, X7, X8
	VPOR X9, X10, X9
	VPOR X8, X9, X8
	VPMULLW 0(DX), X0, X0
	VPTEST X8, X8
	JZ flat

	VPMULLW 16(DX), X1, X1
	VPMULLW 32(DX), X2, X2
	VPMULLW 48(DX), X3, X3
	VPMULLW 64(DX), X4, X4
	VPMULLW 80(DX), X5, X5
	VPMULLW 96(DX), X6, X6
	VPMULLW 112(DX), X7, X7
	TRANSFORM(60, $11)

rows:
	TRANSPOSE
	VEXTRACTI128 $1, Y0, X4
	VEXTRACTI128 $1, Y1, X5
	VEXTRACTI128 $1, Y2, X6
	VEXTRACTI128 $1, Y3, X7
	TRANSFORM(64, $18)
	TRANSPOSE

	VPBROADCASTD factors<>+56(SB), Y15
	VPACKSSWB Y1, Y0, Y0
	VPACKSSWB Y3, Y2, Y2
	VPADDB Y15, Y0, Y0
	VPADDB Y15, Y2, Y2
	VEXTRACTI128 $1, Y0, X4
	VEXTRACTI128 $1, Y2, X6
	LEAQ (DI)(BX*4), CX
	LEAQ (BX)(BX*2), AX
	VMOVQ X0, (DI)
	VMOVHPS X0, (DI)(BX*1)
	VMOVQ X2, (DI)(BX*2)
	VMOVHPS X2, (DI)(AX*1)
	VMOVQ X4, (CX)
	VMOVHPS X4, (CX)(BX*1)
	VMOVQ X6, (CX)(BX*2)
	VMOVHPS X6, (CX)(AX*1)
	VZEROUPPER
	RET

flat: // only the first row has coefficients
	VPSLLW $2, X0, X0
	VPERMQ $0x50, Y0, Y8
	VMOVDQA Y8, Y10
	VMOVDQA Y8, Y11
	VMOVDQA Y8, Y14
	JMP rows

// func widenAVX2(out, near, far *uint8, n int, even, odd uint16)
TEXT ·widenAVX2(SB), NOSPLIT, $0-36
	MOVQ out+0(FP), DI
	MOVQ near+8(FP), SI
	MOVQ far+16(FP), DX
	MOVQ n+24(FP), CX
	VPBROADCASTW even+32(FP), Y14
	VPBROADCASTW odd+34(FP), Y15

wide16:
	VPMOVZXBW (SI), Y0
	VPMOVZXBW (DX), Y1
	VPMOVZXBW -1(SI), Y2
	VPMOVZXBW -1(DX), Y3
	VPMOVZXBW 1(SI), Y4
	VPMOVZXBW 1(DX), Y5
	VPADDW Y0, Y1, Y1 // sums of the rows, weighed 3 to 1
	VPADDW Y0, Y0, Y0
	VPADDW Y0, Y1, Y1
	VPADDW Y2, Y3, Y3
	VPADDW Y2, Y2, Y2
	VPADDW Y2, Y3, Y3
	VPADDW Y4, Y5, Y5
	VPADDW Y4, Y4, Y4
	VPADDW Y4, Y5, Y5
	VPADDW Y1, Y1, Y0 // sums of the columns, weighed 3 to 1
	VPADDW Y0, Y1, Y1
	VPADDW Y1, Y3, Y3
	VPADDW Y1, Y5, Y5
	VPADDW Y14, Y3, Y3
	VPADDW Y15, Y5, Y5
	VPSRLW $4, Y3, Y3
	VPSRLW $4, Y5, Y5
	VPSLLW $8, Y5, Y5
	VPOR Y3, Y5, Y5
	VMOVDQU Y5, (DI)
	ADDQ $32, DI
	ADDQ $16, SI
	ADDQ $16, DX
	SUBQ $16, CX
	JG wide16
	VZEROUPPER
	RET

// The bytes of four pixels without the fourth of each.
DATA three<>+0(SB)/8, $0x0908060504020100
DATA three<>+8(SB)/8, $0x808080800e0d0c0a
GLOBL three<>(SB), RODATA|NOPTR, $16

// func convertAVX2(out, luma, blue, red *uint8, n int)
TEXT ·convertAVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ luma+8(FP), SI
	MOVQ blue+16(FP), DX
	MOVQ red+24(FP), BX
	MOVQ n+32(FP), CX
	VPBROADCASTD factors<>+32(SB), Y7
	VPBROADCASTD factors<>+36(SB), Y8
	VPBROADCASTD factors<>+40(SB), Y9
	VPBROADCASTD factors<>+44(SB), Y10
	VPBROADCASTD factors<>+48(SB), Y11
	VPBROADCASTD factors<>+52(SB), Y12
	VBROADCASTI128 three<>(SB), Y13
	VPXOR Y14, Y14, Y14

pixels16:
	VPMOVZXBW (SI), Y0
	VPMOVZXBW (DX), Y1
	VPMOVZXBW (BX), Y2
	VPSUBW Y11, Y1, Y1
	VPSUBW Y11, Y2, Y2

	VPUNPCKLWD Y2, Y1, Y3 // green: luma - red + (-22554·blue + 18734·red + half)>>16
	VPUNPCKHWD Y2, Y1, Y4
	VPMADDWD Y7, Y3, Y3
	VPMADDWD Y7, Y4, Y4
	VPADDD Y10, Y3, Y3
	VPADDD Y10, Y4, Y4
	VPSRAD $16, Y3, Y3
	VPSRAD $16, Y4, Y4
	VPACKSSDW Y4, Y3, Y3
	VPSUBW Y2, Y3, Y3
	VPADDW Y0, Y3, Y3

	VPADDW Y2, Y2, Y4 // red: luma + red + ((26345·2·red)>>16 + 1)>>1
	VPMULHW Y8, Y4, Y4
	VPADDW Y12, Y4, Y4
	VPSRAW $1, Y4, Y4
	VPADDW Y2, Y4, Y4
	VPADDW Y0, Y4, Y4

	VPADDW Y1, Y1, Y1 // blue: luma + 2·blue + ((-14942·2·blue)>>16 + 1)>>1
	VPMULHW Y9, Y1, Y5
	VPADDW Y12, Y5, Y5
	VPSRAW $1, Y5, Y5
	VPADDW Y1, Y5, Y5
	VPADDW Y0, Y5, Y5

	VPACKUSWB Y5, Y4, Y4  // in each half: 8 red, 8 blue
	VPACKUSWB Y14, Y3, Y3 // 8 green, 8 zeros
	VPUNPCKLBW Y3, Y4, Y0 // pairs of red and green
	VPUNPCKHBW Y3, Y4, Y1 // pairs of blue and zero
	VPUNPCKLWD Y1, Y0, Y2 // pixels 0 to 3, 8 to 11
	VPUNPCKHWD Y1, Y0, Y3 // pixels 4 to 7, 12 to 15
	VPSHUFB Y13, Y2, Y2
	VPSHUFB Y13, Y3, Y3
	VEXTRACTI128 $1, Y2, X4
	VEXTRACTI128 $1, Y3, X5
	VMOVDQU X2, (DI) // 12 bytes each
	VMOVDQU X3, 12(DI)
	VMOVDQU X4, 24(DI)
	VMOVQ X5, 36(DI)
	VPEXTRD $2, X5, 44(DI)
	ADDQ $48, DI
	ADDQ $16, SI
	ADDQ $16, DX
	ADDQ $16, BX
	SUBQ $16, CX
	JG pixels16
	VZEROUPPER
	RET
