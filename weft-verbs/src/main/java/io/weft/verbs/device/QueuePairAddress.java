// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// The address of a queue pair for its peer, as plain data that peers exchange.
///
/// @param number of the queue pair
/// @param sequence first packet sequence number it sends, 24 bits
/// @param lid of its port, 0 on RoCE
/// @param gid of its port
/// @param mtu of its port, as `enum ibv_mtu`
public record QueuePairAddress(int number, int sequence, int lid, Gid gid, int mtu) {}
