/* SPDX-License-Identifier: MIT */
/*
 * Computes powers of ten, 10^-297 to 10^350, with 128 significant bits, rounded up.
 *
 * Algorithm: 10^k = 10^(27 i) * 10^j with 0 <= j < 27.  Two small tables hold the powers of 10^27
 * with 192 bits, rounded down, and the powers of 5 up to 5^26, which are exact in 64 bits.  The
 * error of their product is below 2^64 units of its 256 bits.  So the upper 128 bits are exact
 * unless the lower 128 are almost all ones; test_shortest.c shows by long division that this does
 * not occur for -292 <= k <= 324.
 *
 * Rejected: a table of all powers (10 KiB), of which data of many magnitudes would fill the cache.
 */
#pragma once

#include <stdint.h>

/* Returns floor(log2(10^k)) for -330 <= k <= 330. */
static inline int sp__log2_tenpower(int k)
{
	return (k * 217706) >> 16;
}

/* Returns the least integer that is at least 10^k * 2^(127 - floor(log2(10^k))). */
static inline unsigned __int128 sp__tenpower(int k)
{
	static const struct {
		uint64_t high, mid, low;
	} tens[] = {
		/* 10^(27 i) for i = -11 .. 12, the highest bit set */
		{ 0xA76C582338ED2621u, 0xAF2AF2B80AF6F24Eu, 0x657C8F4D43323A36u },
		{ 0x873E4F75E2224E68u, 0x5A7744A6E804A291u, 0xCC35EDDFCF0996D7u },
		{ 0xDA7F5BF590966848u, 0xAF39A475506A899Eu, 0xA30294CC2934E662u },
		{ 0xB080392CC4349DECu, 0xBD8D794D96AACFB3u, 0xFE13A5C86AF64418u },
		{ 0x8E938662882AF53Eu, 0x547EB47B7282EE9Cu, 0x41B0230E1421487Du },
		{ 0xE65829B3046B0AFAu, 0x0CB4A5A3112A5112u, 0xA3B561B1CB208396u },
		{ 0xBA121A4650E4DDEBu, 0x92F34D62616CE413u, 0x21A0183E10583CD3u },
		{ 0x964E858C91BA2655u, 0x3A6A07F8D510F86Fu, 0xE9082F25E9C5E9ECu },
		{ 0xF2D56790AB41C2A2u, 0xFAE27299423FB9C3u, 0x3695DAD7E8858901u },
		{ 0xC428D05AA4751E4Cu, 0xAA97E14C3C26B886u, 0x96842DC95323F5A8u },
		{ 0x9E74D1B791E07E48u, 0x775EA264CF55347Du, 0xCA49F1C05120C9C7u },
		{ 0x8000000000000000u, 0x0000000000000000u, 0x0000000000000000u },
		{ 0xCECB8F27F4200F3Au, 0x0000000000000000u, 0x0000000000000000u },
		{ 0xA70C3C40A64E6C51u, 0x999090B65F67D924u, 0x0000000000000000u },
		{ 0x86F0AC99B4E8DAFDu, 0x69A028BB3DED71A3u, 0xDF9F915627C04E28u },
		{ 0xDA01EE641A708DE9u, 0xE80E6F4820CC9495u, 0xD74BAAD03BC1D8D3u },
		{ 0xB01AE745B101E9E4u, 0x5EC05DCFF72E7F8Fu, 0xC04C79FFE324301Fu },
		{ 0x8E41ADE9FBEBC27Du, 0x14588F13BE847307u, 0x23BD6A2059C002F5u },
		{ 0xE5D3EF282A242E81u, 0x8F1668C8A86DA5FAu, 0xF0B5CCF5176ECC7Cu },
		{ 0xB9A74A0637CE2EE1u, 0x6D953E2BD7173692u, 0x88EFB0037AC08BDEu },
		{ 0x95F83D0A1FB69CD9u, 0x4ABDAF101564F98Eu, 0x0D5A4AF7B3A98E47u },
		{ 0xF24A01A73CF2DCCFu, 0xBC633B39673C8CECu, 0x3D9C44CD2F36917Cu },
		{ 0xC3B8358109E84F07u, 0x0A862F80EC4700C8u, 0x02606EA01029DC37u },
		{ 0x9E19DB92B4E31BA9u, 0x6C07A2C26A8346D1u, 0x4944D9F52CD0DEC2u },
	};
	static const uint64_t fives[] = {
		/* 5^j, shifted so that the highest bit is set */
		0x8000000000000000u, 0xA000000000000000u, 0xC800000000000000u, 0xFA00000000000000u,
		0x9C40000000000000u, 0xC350000000000000u, 0xF424000000000000u, 0x9896800000000000u,
		0xBEBC200000000000u, 0xEE6B280000000000u, 0x9502F90000000000u, 0xBA43B74000000000u,
		0xE8D4A51000000000u, 0x9184E72A00000000u, 0xB5E620F480000000u, 0xE35FA931A0000000u,
		0x8E1BC9BF04000000u, 0xB1A2BC2EC5000000u, 0xDE0B6B3A76400000u, 0x8AC7230489E80000u,
		0xAD78EBC5AC620000u, 0xD8D726B7177A8000u, 0x878678326EAC9000u, 0xA968163F0A57B400u,
		0xD3C21BCECCEDA100u, 0x84595161401484A0u, 0xA56FA5B99019A5C8u,
	};
	unsigned int i = (unsigned int)(k + 297) / 27, j = (unsigned int)(k + 297) % 27;
	unsigned __int128 low = (unsigned __int128)tens[i].low * fives[j];
	unsigned __int128 mid = (unsigned __int128)tens[i].mid * fives[j] + (uint64_t)(low >> 64);
	unsigned __int128 high = (unsigned __int128)tens[i].high * fives[j] + (uint64_t)(mid >> 64);

	if (!(high >> 127)) {
		high = high << 1 | (uint64_t)mid >> 63;
		mid <<= 1;
	}
	return high + (((uint64_t)mid | (uint64_t)low) != 0);
}
