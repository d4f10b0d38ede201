// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.comm.CommException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/// The variables of an environment, read with errors that name the variable. A blank variable
/// counts as not set.
record Variables(Map<String, String> environment) {

  boolean has(String name) {
    return text(name).isPresent();
  }

  Optional<String> text(String name) {
    return Optional.ofNullable(environment.get(name)).map(String::strip).filter(t -> !t.isEmpty());
  }

  OptionalInt number(String name) {
    Optional<String> text = text(name);
    if (text.isEmpty()) {
      return OptionalInt.empty();
    }
    if (!text.get().matches("[0-9]{1,9}")) {
      throw new CommException.Setup(
          name + " is '" + text.get() + "'; it must be a number from 0 to 999999999", null);
    }
    return OptionalInt.of(Integer.parseInt(text.get()));
  }

  /// Returns the number. Throws `CommException.Setup` if the variable is missing, naming the
  /// related one that the launcher also sets.
  private int required(String name, String beside, String launcher) {
    return number(name)
        .orElseThrow(
            () ->
                new CommException.Setup(
                    has(beside)
                        ? "%s is not set, but %s is '%s', and %s sets both for a rank; set %s too, or unset %s"
                            .formatted(
                                name, beside, text(beside).orElseThrow(), launcher, name, beside)
                        : "%s and %s are not set, but other variables say that %s started this process; set both, or unset those"
                            .formatted(name, beside, launcher),
                    null));
  }

  /// Returns the size, at least 1.
  ///
  /// @param rankName the variable of the rank
  int size(String name, String rankName, String launcher) {
    int size = required(name, rankName, launcher);
    if (size == 0) {
      throw new CommException.Setup(name + " is 0; a job has at least 1 rank", null);
    }
    return size;
  }

  /// Returns a rank below `size`, the value of `sizeName`.
  int rank(String name, int size, String sizeName, String launcher) {
    int rank = required(name, sizeName, launcher);
    if (rank >= size) {
      throw new CommException.Setup(
          name
              + " is "
              + rank
              + ", but "
              + sizeName
              + " is "
              + size
              + "; a rank is from 0 to "
              + (size - 1),
          null);
    }
    return rank;
  }

  /// Returns a local rank or size. If it is set, it must be from `least` to `most`.
  OptionalInt within(String name, int least, int most, String because) {
    OptionalInt value = number(name);
    if (value.isPresent() && (value.getAsInt() < least || value.getAsInt() > most)) {
      throw new CommException.Setup(
          name
              + " is "
              + value.getAsInt()
              + ", but "
              + because
              + "; it must be from "
              + least
              + " to "
              + most,
          null);
    }
    return value;
  }

  Optional<HostAndPort> hostAndPort(String name) {
    return text(name).map(text -> HostAndPort.parse(text, name));
  }
}
