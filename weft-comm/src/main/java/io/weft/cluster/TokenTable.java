// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The tokens of one rank on its mesh, for all services. Tokens are numbers that peers return in a
/// message or as the immediate value of a write. A token consists of a slot and its generation,
/// which distinguishes a late reply to an earlier owner from one to the current owner. Slots are
/// reused in cyclic order. Confined to the progress thread.
public final class TokenTable {

  private static final int SLOT_BITS = 18;
  private static final int MOST = 1 << SLOT_BITS;

  /// One less than would fit, so that no token is -1, which messages use for "all" and "none".
  private static final int GENERATIONS = (1 << (32 - SLOT_BITS)) - 1;

  /// The tokens reserved for operations that cannot be refused, when `isFull` has refused others.
  private static final int RESERVED = MOST / 8;

  private @Nullable TokenOwner[] owners = new TokenOwner[256];
  private int[] generations = new int[256];
  private int used;
  private int cursor;

  /// True if a slot has begun its generations again, so that each of them was issued.
  private boolean wrapped;

  /// Creates an empty table.
  public TokenTable() {}

  /// Returns whether only the reserved tokens are left, so that refusable operations should be
  /// refused.
  public boolean isFull() {
    return used >= MOST - RESERVED;
  }

  /// Assigns a token to this owner until it is freed. Throws `IllegalStateException` if none is
  /// left.
  ///
  /// Hot path.
  public int take(TokenOwner owner) {
    Objects.requireNonNull(owner, "owner");
    if (used == MOST) {
      throw new IllegalStateException(
          used + " operations are in progress, the maximum number of tokens");
    }
    if (used * 2 > owners.length && owners.length < MOST) {
      cursor = owners.length;
      owners = Arrays.copyOf(owners, owners.length * 2);
      generations = Arrays.copyOf(generations, owners.length);
    }
    while (owners[cursor & (owners.length - 1)] != null) {
      cursor++;
    }
    int slot = cursor++ & (owners.length - 1);
    used++;
    owners[slot] = owner;
    int generation = (generations[slot] + 1) % GENERATIONS;
    wrapped |= generation == 0;
    generations[slot] = generation;
    return generation << SLOT_BITS | slot;
  }

  /// Returns the token's owner, or null if the token is not in use.
  ///
  /// Hot path.
  public @Nullable TokenOwner find(int token) {
    int slot = token & (MOST - 1);
    return slot < owners.length && generations[slot] == token >>> SLOT_BITS ? owners[slot] : null;
  }

  /// Returns the owner of a token that a peer returns in a message, or null if the token is not in
  /// use or has an owner of another type.
  ///
  /// Hot path.
  public <T extends TokenOwner> @Nullable T find(int token, Class<T> type) {
    TokenOwner owner = find(token);
    return type.isInstance(owner) ? type.cast(owner) : null;
  }

  /// Returns whether an unused token may have been in use, so that a message for it may be late.
  boolean isPast(int token) {
    int slot = token & (MOST - 1);
    int generation = token >>> SLOT_BITS;
    return slot < owners.length
        && (wrapped ? generation < GENERATIONS : generation > 0 && generation <= generations[slot]);
  }

  /// Frees a token. No effect on a token that is not in use.
  ///
  /// Hot path.
  public void free(int token) {
    if (find(token) != null) {
      owners[token & (MOST - 1)] = null;
      used--;
    }
  }
}
