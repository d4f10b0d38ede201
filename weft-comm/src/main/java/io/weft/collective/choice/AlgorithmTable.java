// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import io.weft.file.ForeignFile;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The rules that select a way and an algorithm for each collective, and the segments of each way.
/// The first matching line decides. The user's lines precede the shipped lines (`algorithms.txt`
/// beside this class describes their format). Immutable.
public final class AlgorithmTable {

  private static final String SHIPPED = "algorithms.txt";
  private static final int MOST_BYTES = 64 << 10;

  private final List<TableLine> lines;

  private AlgorithmTable(List<TableLine> lines) {
    this.lines = List.copyOf(lines);
  }

  /// Returns the shipped table, preceded by the lines of a file if one is given. Throws
  /// `IllegalArgumentException` that names the file, the line and the allowed values.
  ///
  /// @param own the user's file
  /// @param algorithms allowed ways and algorithms of each collective
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
          "cannot read the table of algorithms " + file + ": " + IoErrors.reason(e), e);
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

  /// Returns the rules of one collective for this layout of ranks.
  ///
  /// @param sameBytes true if all ranks have tensors of one length, so that rules may depend on it
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
        case TableLine.ForBlocks rule -> {}
        case TableLine.ForWay rule -> {
          if (holds(rule.conditions(), layout) && (sameBytes || !rule.asksForSize())) {
            segments.add(rule);
          }
        }
      }
    }
    return new SizeRules(own, segments, layout.ranks());
  }

  /// Returns the length of the memory in which a thread combines contributions.
  public long blockBytes() {
    for (TableLine line : lines) {
      if (line instanceof TableLine.ForBlocks rule) {
        return rule.bytes();
      }
    }
    throw new IllegalStateException("the shipped table has a line for blocks");
  }

  /// Returns the rules by which tensors share a buffer, for this layout of ranks.
  public FusionRules fusionRules(FusionRules.Subject subject, RankLayout layout) {
    List<TableLine.ForFusion> own = new ArrayList<>();
    for (TableLine line : lines) {
      if (line instanceof TableLine.ForFusion rule
          && rule.subject() == subject
          && holds(rule.conditions(), layout)) {
        own.add(rule);
      }
    }
    return new FusionRules(own, layout.ranks());
  }

  private static boolean holds(List<Condition> conditions, RankLayout layout) {
    return conditions.stream().allMatch(condition -> condition.holdsFor(layout));
  }
}
