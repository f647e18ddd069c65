# sum += x[i] * y[i]: the inner loop of a dot product.  Every addition waits for the one before.
.loop:
	movsd	(%rdi,%rax,8), %xmm1
	mulsd	(%rsi,%rax,8), %xmm1
	addsd	%xmm1, %xmm0
	incq	%rax
	cmpq	%rdx, %rax
	jne	.loop
