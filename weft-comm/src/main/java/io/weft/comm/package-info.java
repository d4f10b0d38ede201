// SPDX-License-Identifier: Apache-2.0
/// The handle of an operation between ranks, and the exceptions with which it fails. Any thread.
///
/// ```java
/// Handle<Void> handle = weft.communicator().barrier(CollectiveOptions.named("step"));
/// try {
///   handle.await(Duration.ofSeconds(10));
/// } catch (CommException.TimedOut late) {
///   handle.await(); // the operation continues
/// } catch (CommException.PeerLost lost) {
///   weft.shrink(Duration.ofMinutes(1)); // the survivors of rank lost.rank() continue
/// }
/// ```
@NullMarked
package io.weft.comm;

import org.jspecify.annotations.NullMarked;
