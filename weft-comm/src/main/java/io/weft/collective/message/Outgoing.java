// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.message;

import io.weft.collective.frame.Grant;
import org.jspecify.annotations.Nullable;

/// The progress of what we send one peer in one exchange: segments are posted in the order of the
/// schedule; staged ones need a free slot of the peer's window.
final class Outgoing {

  final int peer;
  final int[] sends;

  /// The peer's permission to write, once it came.
  @Nullable Grant grant;

  int token;

  /// The segment to post next: position in `sends`, segment of its chunk.
  int position;

  int segment;

  /// Segments posted so far.
  int posted;

  /// Staged segments posted so far, and allowed in all.
  int stagedPosted;

  int stagedAllowed;

  /// Posted writes that have not left yet.
  int writesOut;

  Outgoing(int peer, int[] sends) {
    this.peer = peer;
    this.sends = sends;
  }

  /// The number of the send to go on with.
  int next() {
    return acknowledged() ? Integer.MAX_VALUE : sends[position];
  }

  boolean acknowledged() {
    return position == sends.length;
  }
}
