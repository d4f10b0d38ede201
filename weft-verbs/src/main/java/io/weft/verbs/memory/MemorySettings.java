// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

/// The bounds of idle registered memory, the longest copied payload, and the check of freed memory.
///
/// @param poolBytes of the transport's memory; 0: each region has separate memory with its
///   registration
/// @param cacheBytes of programs' memory; 0: each region is registered separately
/// @param copiedBytes the payload up to which copying into the ring is cheaper than a separate work
///   request; foreign memory of at most this length is not pinned
/// @param checksFreed whether accesses to freed memory of the transport are looked for
public record MemorySettings(
    long poolBytes, long cacheBytes, int copiedBytes, boolean checksFreed) {}
