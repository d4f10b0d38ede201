// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// The description of a run in a checkpoint: all facts that determine the weights, and the number
/// of completed epochs. The number of ranks is left out, because a run may continue with another.
///
/// @param epochs completed
/// @param facts name to value, in order
public record Manifest(int epochs, Map<String, String> facts) {

  /// Copies the map.
  public Manifest {
    facts = Collections.unmodifiableMap(new LinkedHashMap<>(facts));
  }

  /// Returns the first difference between the two in words; empty if they are of one run.
  public Optional<String> difference(Manifest run) {
    for (Map.Entry<String, String> fact : facts.entrySet()) {
      String here = run.facts.get(fact.getKey());
      if (!fact.getValue().equals(here)) {
        return Optional.of(fact.getKey() + " " + fact.getValue() + ", but this run has " + here);
      }
    }
    return Optional.empty();
  }

  /// Returns lines of `name=value`.
  String text() {
    var text = new StringBuilder("epochs=" + epochs + "\n");
    facts.forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
    return text.toString();
  }

  /// Parses the result of `text`. Throws `IOException` with the defect.
  static Manifest parse(String text) throws IOException {
    var facts = new LinkedHashMap<String, String>();
    for (String line : text.lines().toList()) {
      int equals = line.indexOf('=');
      if (equals < 1) {
        throw new IOException("its manifest has the line '" + line + "'");
      }
      facts.put(line.substring(0, equals), line.substring(equals + 1));
    }
    try {
      String epochs = facts.remove("epochs");
      return new Manifest(Integer.parseInt(epochs == null ? "" : epochs), facts);
    } catch (NumberFormatException e) {
      throw new IOException("its manifest has no number of epochs", e);
    }
  }
}
