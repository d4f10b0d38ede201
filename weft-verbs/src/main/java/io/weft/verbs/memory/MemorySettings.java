// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

/// How much memory may stay registered while nobody uses it.
///
/// @param poolBytes of the transport's own; 0: each region has memory of its own, registered for it
/// @param cacheBytes of others'; 0: each region is registered by itself
public record MemorySettings(long poolBytes, long cacheBytes) {}
