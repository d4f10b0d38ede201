// SPDX-License-Identifier: Apache-2.0
/// The peer `grpc` of `weft perf messages`: unary calls of grpc-java between two processes. A
/// program's main thread starts the calls and waits. All calls run on the event loop of their
/// connection, one in each process.
@NullMarked
package io.weft.perf.grpc;

import org.jspecify.annotations.NullMarked;
