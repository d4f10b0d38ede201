// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import io.weft.file.ForeignFile;
import io.weft.transport.limit.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Which way and algorithm each collective takes, and in which segments each way sends: lines of
/// which the first that fits counts, the user's before those that are shipped (`algorithms.txt`
/// beside this class, which says what a line is). Immutable.
public final class AlgorithmTable {

  private static final String SHIPPED = "algorithms.txt";
  private static final int MOST_BYTES = 64 << 10;

  private final List<TableLine> lines;

  private AlgorithmTable(List<TableLine> lines) {
    this.lines = List.copyOf(lines);
  }

  /// The shipped table, behind the lines of a file. Throws `IllegalArgumentException` that names
  /// file, line and what is allowed.
  ///
  /// @param own a file of the user's, if there is one
  /// @param algorithms what can be taken for each collective: way and algorithm
  public static AlgorithmTable load(Optional<Path> own, Map<String, List<String>> algorithms) {
    List<TableLine> lines = new ArrayList<>();
    own.ifPresent(
        file ->
            lines.addAll(
                parse(read(file), file.toString(), new TableLine.TableReader(algorithms, false))));
    lines.addAll(parse(shipped(), SHIPPED, new TableLine.TableReader(algorithms, true)));
    return new AlgorithmTable(lines);
  }

  private static String shipped() {
    try (InputStream in = AlgorithmTable.class.getResourceAsStream(SHIPPED)) {
      if (in == null) {
        throw new IllegalStateException("resource " + SHIPPED + " is not in this build");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return ForeignFile.named(file).text(MOST_BYTES);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "cannot read the table of algorithms " + file + ": " + Refusal.reason(e), e);
    }
  }

  private static List<TableLine> parse(String text, String file, TableLine.TableReader reader) {
    List<TableLine> lines = new ArrayList<>();
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      if (line.isBlank() || line.strip().startsWith("#")) {
        continue;
      }
      String place = file + ", line " + number;
      try {
        lines.add(reader.parse(line, place));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(place + ": " + e.getMessage(), e);
      }
    }
    return lines;
  }

  /// The rules of one collective for ranks that are laid out so.
  ///
  /// @param sameBytes whether all ranks have tensors of one length, so that it may decide
  public SizeRules sizeRules(String collective, RankLayout layout, boolean sameBytes) {
    List<TableLine.ForCollective> own = new ArrayList<>();
    List<TableLine.ForWay> segments = new ArrayList<>();
    for (TableLine line : lines) {
      switch (line) {
        case TableLine.ForCollective rule -> {
          if (rule.collective().equals(collective) && holds(rule.conditions(), layout)) {
            own.add(rule);
          }
        }
        case TableLine.ForFusion rule -> {}
        case TableLine.ForWay rule -> {
          if (holds(rule.conditions(), layout) && (sameBytes || !rule.asksForSize())) {
            segments.add(rule);
          }
        }
      }
    }
    return new SizeRules(own, segments, layout.ranks());
  }

  /// The rules by which tensors share a buffer, for ranks that are laid out so.
  public FusionRules fusionRules(RankLayout layout) {
    List<TableLine.ForFusion> own = new ArrayList<>();
    for (TableLine line : lines) {
      if (line instanceof TableLine.ForFusion rule && holds(rule.conditions(), layout)) {
        own.add(rule);
      }
    }
    return new FusionRules(own, layout.ranks());
  }

  private static boolean holds(List<Condition> conditions, RankLayout layout) {
    return conditions.stream().allMatch(condition -> condition.holdsFor(layout));
  }
}
