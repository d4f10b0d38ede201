// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// The limits of a device.
///
/// @param queuePairs of all processes
/// @param workRequests in one send queue
/// @param completions in one completion queue
/// @param receiveQueues shared receive queues of all processes; 0 if the device has none
/// @param receives in one shared receive queue
/// @param regionBytes of one region
/// @param readsAtOnce concurrent remote reads of one queue pair
/// @param ports number of ports
public record DeviceLimits(
    int queuePairs,
    int workRequests,
    int completions,
    int receiveQueues,
    int receives,
    long regionBytes,
    int readsAtOnce,
    int ports) {}
