// Package noise gives the normal numbers of PyTorch's CPU generator: torch.randn(n,
// generator=torch.Generator().manual_seed(seed)) in float32, so that a diffusion model starts from the noise that
// diffusers would give it for the same seed.
//
//	g := noise.New(42)
//	latents := make([]float32, 4*64*64)
//	g.Normal(latents)
//
// The numbers are those of PyTorch on x86-64 with AVX2 or AVX-512, to the bit. There PyTorch takes the logarithm,
// sine and cosine from polynomials in float32, which this package evaluates alike, whatever it runs on. Other
// processors' PyTorch differs by up to 2e-6.
package noise
