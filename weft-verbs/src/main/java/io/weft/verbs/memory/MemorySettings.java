// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

/// The bounds of idle registered memory, and the check of freed memory.
///
/// @param poolBytes of the transport's memory; 0: each region has separate memory with its
///   registration
/// @param cacheBytes of programs' memory; 0: each region is registered separately
/// @param checksFreed whether accesses to freed memory of the transport are looked for
public record MemorySettings(long poolBytes, long cacheBytes, boolean checksFreed) {}
