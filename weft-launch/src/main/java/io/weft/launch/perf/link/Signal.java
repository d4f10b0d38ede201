// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.link;

/// What the two programs of a measurement say to each other between iterations. Each word is
/// answered or followed by the other's before the same side says the next.
enum Signal {
  /// The peer may begin.
  READY,
  /// What was written is there.
  ARRIVED,
  /// One more batch of warming up.
  AGAIN,
  /// What follows is measured.
  ENOUGH,
  /// All that arrived was right.
  RIGHT,
  /// Something that arrived was wrong.
  WRONG
}
