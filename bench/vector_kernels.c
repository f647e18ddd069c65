/* SPDX-License-Identifier: MIT
 *
 * Loops that compilers vectorise: bench/vector_blocks.py compiles them for sets whose vectors have no
 * fixed length.
 */
#include <stddef.h>
#include <stdint.h>

#define EACH for (size_t i = 0; i < n; i++)
#define KERNELS(T, name)                                                                           \
	void add_##name(T *restrict a, const T *b, const T *c, size_t n)                           \
	{                                                                                          \
		EACH a[i] = b[i] + c[i];                                                           \
	}                                                                                          \
	void scale_##name(T *restrict a, const T *b, T k, size_t n)                                \
	{                                                                                          \
		EACH a[i] = b[i] * k;                                                              \
	}                                                                                          \
	void axpy_##name(T *restrict a, const T *b, T k, size_t n)                                 \
	{                                                                                          \
		EACH a[i] += k * b[i];                                                             \
	}                                                                                          \
	T sum_##name(const T *a, size_t n)                                                         \
	{                                                                                          \
		T s = 0;                                                                           \
		EACH s += a[i];                                                                    \
		return s;                                                                          \
	}                                                                                          \
	T dot_##name(const T *a, const T *b, size_t n)                                             \
	{                                                                                          \
		T s = 0;                                                                           \
		EACH s += a[i] * b[i];                                                             \
		return s;                                                                          \
	}                                                                                          \
	void most_##name(T *restrict a, const T *b, size_t n)                                      \
	{                                                                                          \
		EACH a[i] = a[i] > b[i] ? a[i] : b[i];                                             \
	}                                                                                          \
	void pick_##name(T *restrict a, const T *b, const T *c, size_t n)                          \
	{                                                                                          \
		EACH if (b[i] > c[i]) a[i] = b[i] - c[i];                                          \
	}                                                                                          \
	void turn_##name(T *restrict a, const T *b, size_t n)                                      \
	{                                                                                          \
		EACH a[i] = b[n - 1 - i];                                                          \
	}                                                                                          \
	void gather_##name(T *restrict a, const T *b, const uint32_t *x, size_t n)                 \
	{                                                                                          \
		EACH a[i] = b[x[i]];                                                               \
	}                                                                                          \
	void even_##name(T *restrict a, const T *b, size_t n)                                      \
	{                                                                                          \
		EACH a[i] = b[2 * i];                                                              \
	}                                                                                          \
	void pairs_##name(T *restrict a, const T *b, size_t n)                                     \
	{                                                                                          \
		EACH a[i] = b[2 * i] + b[2 * i + 1];                                               \
	}                                                                                          \
	void three_##name(T *restrict a, const T *b, size_t n)                                     \
	{                                                                                          \
		EACH a[i] = b[3 * i] + b[3 * i + 1] * b[3 * i + 2];                                \
	}                                                                                          \
	void split_##name(T *restrict a, T *restrict d, const T *b, size_t n)                      \
	{                                                                                          \
		EACH                                                                               \
		{                                                                                  \
			a[i] = b[2 * i];                                                           \
			d[i] = b[2 * i + 1];                                                       \
		}                                                                                  \
	}                                                                                          \
	void stencil_##name(T *restrict a, const T *b, size_t n)                                   \
	{                                                                                          \
		EACH a[i] = b[i] + b[i + 1] + b[i + 2];                                            \
	}                                                                                          \
	void divide_##name(T *restrict a, const T *b, const T *c, size_t n)                        \
	{                                                                                          \
		EACH a[i] = b[i] / c[i];                                                           \
	}                                                                                          \
	void poly_##name(T *restrict a, const T *b, size_t n)                                      \
	{                                                                                          \
		EACH a[i] = ((b[i] * 3 + 5) * b[i] + 7) * b[i] + 9;                                \
	}                                                                                          \
	size_t count_##name(const T *a, T k, size_t n)                                             \
	{                                                                                          \
		size_t s = 0;                                                                      \
		EACH s += a[i] == k;                                                               \
		return s;                                                                          \
	}                                                                                          \
	void fill_##name(T *restrict a, T k, size_t n)                                             \
	{                                                                                          \
		EACH a[i] = k;                                                                     \
	}                                                                                          \
	void index_##name(T *restrict a, size_t n)                                                 \
	{                                                                                          \
		EACH a[i] = (T)i;                                                                  \
	}

#define INTEGER(T, name)                                                                           \
	void logic_##name(T *restrict a, const T *b, const T *c, size_t n)                         \
	{                                                                                          \
		EACH a[i] = (T)((b[i] & c[i]) ^ (b[i] | ~c[i]));                                   \
	}                                                                                          \
	void shift_##name(T *restrict a, const T *b, const T *c, size_t n)                         \
	{                                                                                          \
		EACH a[i] = (T)(b[i] << (c[i] & 7));                                               \
	}                                                                                          \
	T xor_##name(const T *a, size_t n)                                                         \
	{                                                                                          \
		T s = 0;                                                                           \
		EACH s ^= a[i];                                                                    \
		return s;                                                                          \
	}                                                                                          \
	T largest_##name(const T *a, size_t n)                                                     \
	{                                                                                          \
		T s = 0;                                                                           \
		EACH s = a[i] > s ? a[i] : s;                                                      \
		return s;                                                                          \
	}                                                                                          \
	void mean_##name(T *restrict a, const T *b, size_t n)                                      \
	{                                                                                          \
		EACH a[i] = (T)((a[i] + b[i] + 1) >> 1);                                           \
	}

#define WIDEN(T, U, name)                                                                          \
	void widen_##name(U *restrict a, const T *b, size_t n)                                     \
	{                                                                                          \
		EACH a[i] = (U)b[i];                                                               \
	}                                                                                          \
	void narrow_##name(T *restrict a, const U *b, size_t n)                                    \
	{                                                                                          \
		EACH a[i] = (T)b[i];                                                               \
	}                                                                                          \
	void wide_add_##name(U *restrict a, const T *b, const T *c, size_t n)                      \
	{                                                                                          \
		EACH a[i] = (U)b[i] + (U)c[i];                                                     \
	}                                                                                          \
	void wide_mul_##name(U *restrict a, const T *b, const T *c, size_t n)                      \
	{                                                                                          \
		EACH a[i] += (U)b[i] * (U)c[i];                                                    \
	}                                                                                          \
	U wide_sum_##name(const T *a, size_t n)                                                    \
	{                                                                                          \
		U s = 0;                                                                           \
		EACH s += (U)a[i];                                                                 \
		return s;                                                                          \
	}

KERNELS(int8_t, i8)
KERNELS(uint16_t, u16)
KERNELS(int32_t, i32)
KERNELS(uint64_t, u64)
KERNELS(float, f32)
KERNELS(double, f64)
INTEGER(uint8_t, u8)
INTEGER(int16_t, i16)
INTEGER(uint32_t, u32)
INTEGER(int64_t, i64)
WIDEN(uint8_t, uint16_t, u8)
WIDEN(int16_t, int32_t, i16)
WIDEN(uint32_t, uint64_t, u32)
WIDEN(float, double, f32)
WIDEN(int32_t, double, i32f)
WIDEN(uint8_t, uint32_t, u8w)
