// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.tensor.MemoryKind;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;

/// The checks of a user's memory for an operation, in which other threads read it, and also write
/// it if it is an output. Called on the user's thread before the operation begins. Stateless; any
/// thread.
public final class UserMemory {

  /// A thread that is never started. It serves to check that threads other than the owner can
  /// access memory.
  private static final Thread SOME_THREAD = Thread.ofPlatform().unstarted(() -> {});

  private UserMemory() {}

  /// Throws `IllegalArgumentException` with a remedy if other threads cannot read the tensor.
  ///
  /// Hot path.
  ///
  /// @param borrower the name of the operation or edge
  /// @param role "input"
  public static void checkReadable(String borrower, String role, TensorView tensor) {
    if (tensor.kind() != MemoryKind.HOST || !isReadable(tensor.data())) {
      throw refused(borrower, role, tensor);
    }
  }

  /// Throws `IllegalArgumentException` with a remedy if other threads cannot read and write the
  /// tensor.
  ///
  /// Hot path.
  public static void checkWritable(String borrower, String role, TensorView tensor) {
    if (tensor.kind() != MemoryKind.HOST || !isWritable(tensor.data())) {
      throw refused(borrower, role, tensor);
    }
  }

  /// Throws `IllegalArgumentException` with a remedy if other threads cannot read the memory.
  ///
  /// Hot path.
  ///
  /// @param words the name of the memory, for the message: "the payload of a request"
  public static void checkReadable(String words, MemorySegment data) {
    if (!isReadable(data)) {
      throw refused(words, data);
    }
  }

  /// Throws `IllegalArgumentException` with a remedy if other threads cannot read and write the
  /// memory.
  ///
  /// Hot path.
  ///
  /// @param words the name of the memory, for the message: "the place of a request"
  public static void checkWritable(String words, MemorySegment data) {
    if (!isWritable(data)) {
      throw refused(words, data);
    }
  }

  private static IllegalArgumentException refused(String words, MemorySegment data) {
    return new IllegalArgumentException(words + ", " + data.byteSize() + " bytes, " + why(data));
  }

  /// Returns whether other threads can read the memory.
  ///
  /// Hot path.
  public static boolean isReadable(MemorySegment data) {
    return data.scope().isAlive() && data.isAccessibleBy(SOME_THREAD);
  }

  /// Returns whether other threads can read and write the memory.
  ///
  /// Hot path.
  public static boolean isWritable(MemorySegment data) {
    return isReadable(data) && !data.isReadOnly();
  }

  /// Describes why other threads cannot read or write the memory, and the remedy, for messages.
  public static String why(MemorySegment data) {
    if (!data.scope().isAlive()) {
      return "lies in an arena that is closed; keep the arena open until the operation is done";
    }
    return data.isAccessibleBy(SOME_THREAD)
        ? "is read-only, but the operation writes it; give it memory that can be written"
        : "lies in an arena that is confined to one thread, but others work on it; allocate it with"
            + " Weft.allocate, or with Arena.ofShared() or Arena.ofAuto()";
  }

  private static IllegalArgumentException refused(String borrower, String role, TensorView tensor) {
    String why =
        tensor.kind() == MemoryKind.HOST
            ? why(tensor.data())
            : "lies in "
                + tensor.kind()
                + " memory, but operations take HOST memory; copy it there";
    return new IllegalArgumentException(
        "operation '" + borrower + "': its " + role + " " + tensor.signature() + " " + why);
  }
}
