// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.frame;

import org.jspecify.annotations.Nullable;

/// What an item of a message says; by its code on the wire.
public enum ItemType {
  /// Consumer: this number means this edge from now on.
  EDGE(1),
  /// Consumer: send me this tensor, as soon as it is there.
  REQUEST(2),
  /// The same, and where it may be written if it is like the last one.
  REQUEST_INTO(3),
  /// Consumer: where a tensor may be written whose shape was told.
  DESTINATION(4),
  /// Consumer: this tensor is read, or not wanted any more.
  RELEASE(5),
  /// Consumer: a request, or all of a step, are void.
  CANCEL(6),
  /// Producer: a whole tensor.
  INLINE(7),
  /// Producer: where the tensor lies.
  META(8),
  /// Producer: the tensor is like this; where may it be written?
  SHAPE(9),
  /// Producer: the tensor is dead.
  DEAD(10),
  /// Producer: the tensor will not come; why.
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

  /// On the wire.
  int code() {
    return code;
  }

  /// Null for a code that there is not.
  static @Nullable ItemType of(int code) {
    return code < 0 || code >= BY_CODE.length ? null : BY_CODE[code];
  }
}
