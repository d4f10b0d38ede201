// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

import io.weft.text.Printable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/// What a table is: the same on all workers that register it. Values are 32-bit floats.
///
/// @param name one line; at most 200 bytes
/// @param kind what it consists of
/// @param width floats of a row, of the whole tensor, or of the longest value
/// @param rule how a push changes values, such as `adagrad:lr=0.05`
/// @param initial what a row or part that is made has, such as `zero`
/// @param seed of random initial values
/// @param consistency when a pull may be answered
/// @param checks what of a push is looked at
/// @param slicer which shard has a key, or how a tensor is cut
public record TableSpec(
    String name,
    Kind kind,
    long width,
    String rule,
    String initial,
    long seed,
    Consistency consistency,
    Checks checks,
    Slicer slicer,
    Retention retention) {

  /// Longest row in floats: rows are short, tensors are long.
  public static final long MAX_WIDTH = 1 << 20;

  /// Longest tensor in floats.
  public static final long MAX_ELEMENTS = 1L << 31;

  /// Longest text of a specification in bytes.
  public static final int MAX_TEXT_BYTES = 4096;

  private static final int MAX_NAME_BYTES = 200;

  /// What a table consists of.
  public enum Kind {
    /// Rows by 64-bit key, made on first use.
    ROWS,
    /// One dense tensor, in parts.
    TENSOR,
    /// Values of any length by 64-bit key, made by their first push.
    VALUES
  }

  /// What is looked at in a push.
  public enum Checks {
    /// Its lengths.
    LENGTHS,
    /// Also each float: one that is not finite refuses the push.
    FINITE
  }

  /// Throws `IllegalArgumentException` with what is wrong.
  public TableSpec {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "a table's name has 1 to " + MAX_NAME_BYTES + " bytes, not " + bytes);
    }
    for (String text : List.of(name, rule, initial, slicer.text())) {
      if (!text.equals(Printable.of(text))) {
        throw new IllegalArgumentException(
            "table '%s': a text with control characters, or others that cannot be printed"
                .formatted(Printable.of(name)));
      }
    }
    if (kind == Kind.TENSOR && !retention.equals(Retention.ALL)) {
      throw new IllegalArgumentException(
          "tensor '" + name + "': it has no rows that could go; leave its retention out");
    }
    if (kind == Kind.VALUES && !retention.equals(Retention.ALL)) {
      throw new IllegalArgumentException(
          "table '" + name + "': values of any length do not go; leave its retention out");
    }
    if (kind != Kind.TENSOR && slicer instanceof Slicer.Parts) {
      throw new IllegalArgumentException(
          "table '"
              + name
              + "': parts are of tensors; its keys are spread by hash, by ranges or by a slicer of"
              + " the program's own");
    }
    long most = kind == Kind.TENSOR ? MAX_ELEMENTS : MAX_WIDTH;
    if (width < 1 || width > most) {
      throw new IllegalArgumentException(
          "table '%s': %d floats; a %s has 1 to %d"
              .formatted(name, width, kind == Kind.TENSOR ? "tensor" : "row or value", most));
    }
  }

  /// Rows of so many floats by key; synchronous, added up, zero at first.
  public static TableSpec rows(String name, int width) {
    return of(name, Kind.ROWS, width);
  }

  /// A dense tensor of so many floats; synchronous, added up, zero at first. Where no
  /// `Slicer.parts` is given, it is cut as `kv-partition-bytes` says.
  public static TableSpec tensor(String name, long elements) {
    return of(name, Kind.TENSOR, elements);
  }

  /// Values of any length by key, of at most so many floats; synchronous, added up, zero at first.
  /// A key's value keeps the length of its first push. Update rules with slots of rows are refused
  /// by the servers.
  public static TableSpec values(String name, int most) {
    return of(name, Kind.VALUES, most);
  }

  private static TableSpec of(String name, Kind kind, long width) {
    return new TableSpec(
        name,
        kind,
        width,
        "sum",
        "zero",
        0,
        Consistency.synchronous(),
        Checks.LENGTHS,
        Slicer.hash(),
        Retention.ALL);
  }

  /// The same with this update rule.
  public TableSpec withRule(String text) {
    return new TableSpec(
        name, kind, width, text, initial, seed, consistency, checks, slicer, retention);
  }

  /// The same with these initial values.
  public TableSpec withInitial(String text, long withSeed) {
    return new TableSpec(
        name, kind, width, rule, text, withSeed, consistency, checks, slicer, retention);
  }

  /// The same with this consistency.
  public TableSpec with(Consistency other) {
    Objects.requireNonNull(other, "other");
    return new TableSpec(name, kind, width, rule, initial, seed, other, checks, slicer, retention);
  }

  /// The same with these checks.
  public TableSpec with(Checks other) {
    Objects.requireNonNull(other, "other");
    return new TableSpec(
        name, kind, width, rule, initial, seed, consistency, other, slicer, retention);
  }

  /// The same with this slicer. Throws `IllegalArgumentException` for a tensor that is not cut into
  /// parts, and for others that are.
  public TableSpec with(Slicer other) {
    if (kind == Kind.TENSOR && !(other instanceof Slicer.Parts)) {
      throw new IllegalArgumentException(
          "tensor '%s': slicer '%s' spreads keys; a tensor is cut by Slicer.parts"
              .formatted(name, other.text()));
    }
    return new TableSpec(
        name, kind, width, rule, initial, seed, consistency, checks, other, retention);
  }

  /// The same with other rows. Throws `IllegalArgumentException` for what has no rows.
  public TableSpec with(Retention other) {
    return new TableSpec(
        name, kind, width, rule, initial, seed, consistency, checks, slicer, other);
  }

  /// What names it on the wire: the 64-bit FNV-1a hash of the name. Never 0.
  public long id() {
    return id(name);
  }

  static long id(String name) {
    long hash = 0xcbf29ce484222325L;
    for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (each & 0xff)) * 0x100000001b3L;
    }
    return hash == 0 ? 1 : hash;
  }

  /// Itself in lines. The slicer is its text only: servers do not slice.
  public String text() {
    return String.join(
        "\n",
        name,
        kind.name(),
        Long.toString(width),
        rule,
        initial,
        Long.toString(seed),
        consistency.text(),
        checks.name(),
        slicer.text(),
        retention.text());
  }

  /// What differs between this and another, in words: `rule: 'sum', now 'sgd:lr=0.1'`; empty where
  /// nothing does.
  public List<String> differences(TableSpec now) {
    return Stream.of(
            difference("name", name, now.name),
            difference("kind", kind, now.kind),
            difference("floats", width, now.width),
            difference("rule", rule, now.rule),
            difference("initial values", initial, now.initial),
            difference("seed", seed, now.seed),
            difference("consistency", consistency.words(), now.consistency.words()),
            difference("checks", checks, now.checks),
            difference("slicer", slicer.text(), now.slicer.text()),
            difference("retention", retention, now.retention))
        .flatMap(Optional::stream)
        .toList();
  }

  private static Optional<String> difference(String what, Object before, Object now) {
    return before.equals(now)
        ? Optional.empty()
        : Optional.of("%s: '%s', now '%s'".formatted(what, before, now));
  }

  /// Reads what `text` has written; its slicer slices nothing. Throws `IllegalArgumentException`
  /// with what is wrong.
  public static TableSpec parse(String text) {
    String[] lines = text.split("\n", -1);
    if (lines.length != 10) {
      throw new IllegalArgumentException("a table's specification of " + lines.length + " lines");
    }
    try {
      Kind kind = Kind.valueOf(lines[1]);
      return new TableSpec(
          lines[0],
          kind,
          Long.parseLong(lines[2]),
          lines[3],
          lines[4],
          Long.parseLong(lines[5]),
          Consistency.parse(lines[6]),
          Checks.valueOf(lines[7]),
          kind == Kind.TENSOR ? Slicer.Parts.parse(lines[8]) : new Named(lines[8]),
          Retention.parse(lines[9]));
    } catch (NumberFormatException wrong) {
      throw new IllegalArgumentException(
          "a table's specification with what is no number: " + wrong.getMessage(), wrong);
    }
  }

  /// A slicer of which only the text is known.
  private record Named(String text) implements Slicer {
    @Override
    public int shard(long key, int shards) {
      throw new IllegalStateException("a server does not slice");
    }
  }
}
