// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.frame;

import org.jspecify.annotations.Nullable;

/// The type of an item in a message, with its code on the wire.
public enum ItemType {
  /// Consumer: assigns a number to an edge from now on.
  EDGE(1),
  /// Consumer: requests a tensor as soon as it is published.
  REQUEST(2),
  /// Consumer: requests a tensor, and names the memory into which it may be written if its
  /// signature equals that of the last one.
  REQUEST_INTO(3),
  /// Consumer: names the memory for a tensor whose shape the producer has sent.
  DESTINATION(4),
  /// Consumer: this tensor has been read, or is no longer wanted.
  RELEASE(5),
  /// Consumer: cancels one request, or all requests of a step.
  CANCEL(6),
  /// Producer: a complete tensor.
  INLINE(7),
  /// Producer: the location of the tensor.
  META(8),
  /// Producer: the signature of the tensor, to request its destination.
  SHAPE(9),
  /// Producer: the tensor is dead.
  DEAD(10),
  /// Producer: the tensor will not be sent, with the reason.
  FAILED(11);

  private static final @Nullable ItemType[] BY_CODE = new ItemType[12];

  static {
    for (ItemType type : values()) {
      BY_CODE[type.code] = type;
    }
  }

  private final int code;

  ItemType(int code) {
    this.code = code;
  }

  /// The code on the wire.
  int code() {
    return code;
  }

  /// Returns the type, or null for an unknown code.
  static @Nullable ItemType of(int code) {
    return code < 0 || code >= BY_CODE.length ? null : BY_CODE[code];
  }
}
