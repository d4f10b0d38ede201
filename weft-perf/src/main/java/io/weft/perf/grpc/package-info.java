// SPDX-License-Identifier: Apache-2.0
/// The peer `grpc` of `weft perf messages`: unary calls of grpc-java between two processes. A
/// program's main thread starts and waits; all calls run on the one event loop that their
/// connection has at either end.
@NullMarked
package io.weft.perf.grpc;

import org.jspecify.annotations.NullMarked;
