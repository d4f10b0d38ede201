// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

/// The identity of this process and the secret that all processes of its job share.
///
/// @param job name of the job
/// @param epoch membership version; peers of another epoch are refused
/// @param node this process's number (its world rank), proved to peers
/// @param secret never logged
public record Credentials(String job, long epoch, int node, Secret secret) {}
