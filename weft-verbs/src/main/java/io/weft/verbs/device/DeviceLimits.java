// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// The limits of a device.
///
/// @param queuePairs of all processes
/// @param workRequests in one queue
/// @param completions in one completion queue
/// @param regions registered at a time
/// @param regionBytes of one region
/// @param readsAtOnce concurrent remote reads of one queue pair
/// @param ports number of ports
public record DeviceLimits(
    int queuePairs,
    int workRequests,
    int completions,
    int regions,
    long regionBytes,
    int readsAtOnce,
    int ports) {}
