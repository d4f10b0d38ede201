// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

import io.weft.text.Printable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/// The specification of a table, equal on all workers that register it. Values are 32-bit floats.
///
/// @param name one line, at most 200 bytes
/// @param structure the kind of the table and its width
/// @param rule the update rule of a push, such as `adagrad:lr=0.05`
/// @param initial the initial values of a new row or part
/// @param consistency when a pull may be answered
/// @param checks the checks of a push
/// @param slicer the mapping of keys to shards, or the parts of a tensor
/// @param retention the admission and eviction of rows, and their move to disk
public record TableSpec(
    String name,
    Structure structure,
    String rule,
    Initial initial,
    Consistency consistency,
    Checks checks,
    Slicer slicer,
    Retention retention) {

  /// The maximum length of a row in floats.
  public static final long MAX_WIDTH = 1 << 20;

  /// The maximum length of a tensor in floats.
  public static final long MAX_ELEMENTS = 1L << 31;

  /// The maximum length of a specification's text in bytes.
  public static final int MAX_TEXT_BYTES = 4096;

  private static final int MAX_NAME_BYTES = 200;

  /// The structure of a table.
  public enum Kind {
    /// Rows by 64-bit key, created on first use.
    ROWS,
    /// One dense tensor, in parts.
    TENSOR,
    /// Values of any length by 64-bit key, created by their first push.
    VALUES
  }

  /// The structure of a table.
  ///
  /// @param kind rows, tensor or values
  /// @param width floats of a row, of the whole tensor, or of the longest value
  public record Structure(Kind kind, long width) {

    /// Throws `NullPointerException` if a component is null.
    public Structure {
      Objects.requireNonNull(kind, "kind");
    }
  }

  /// The initial values of rows or parts.
  ///
  /// @param values their text, such as `zero`
  /// @param seed of random values
  public record Initial(String values, long seed) {

    /// Throws `NullPointerException` if a component is null.
    public Initial {
      Objects.requireNonNull(values, "values");
    }
  }

  /// The checks of a push.
  public enum Checks {
    /// The lengths are checked.
    LENGTHS,
    /// The lengths and each float are checked. A push with a float that is not finite is refused.
    FINITE
  }

  /// Throws `IllegalArgumentException` with the invalid value.
  public TableSpec {
    Kind kind = structure.kind;
    long width = structure.width;
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_NAME_BYTES) {
      throw new IllegalArgumentException(
          "a table's name has 1 to " + MAX_NAME_BYTES + " bytes, not " + bytes);
    }
    for (String text : List.of(name, rule, initial.values, slicer.text())) {
      if (!text.equals(Printable.of(text))) {
        throw new IllegalArgumentException(
            "table '%s': a text with control characters, or others that cannot be printed"
                .formatted(Printable.of(name)));
      }
    }
    if (kind == Kind.TENSOR && !retention.equals(Retention.ALL)) {
      throw new IllegalArgumentException(
          "tensor '" + name + "': it has no rows to evict; leave its retention out");
    }
    if (kind == Kind.VALUES && !retention.equals(Retention.ALL)) {
      throw new IllegalArgumentException(
          "table '" + name + "': values of any length are not evicted; leave its retention out");
    }
    if (kind != Kind.TENSOR && slicer instanceof Slicer.Parts) {
      throw new IllegalArgumentException(
          "table '"
              + name
              + "': only tensors have parts; its keys are spread by hash, by ranges or by a custom"
              + " slicer");
    }
    long most = kind == Kind.TENSOR ? MAX_ELEMENTS : MAX_WIDTH;
    if (width < 1 || width > most) {
      throw new IllegalArgumentException(
          "table '%s': %d floats; a %s has 1 to %d"
              .formatted(name, width, kind == Kind.TENSOR ? "tensor" : "row or value", most));
    }
  }

  /// Returns the specification of a table with rows of `width` floats by key. It is synchronous,
  /// adds pushes, and begins with zeros.
  public static TableSpec rows(String name, int width) {
    return of(name, Kind.ROWS, width);
  }

  /// Returns the specification of a dense tensor. It is synchronous, adds pushes, and begins with
  /// zeros. Unless `Slicer.parts` is given, its parts have the size of `kv-partition-bytes`.
  public static TableSpec tensor(String name, long elements) {
    return of(name, Kind.TENSOR, elements);
  }

  /// Returns the specification of a table with values of any length up to `most` floats by key. It
  /// is synchronous, adds pushes, and begins with zeros. A key's value keeps the length of its
  /// first push. The servers refuse update rules with row slots.
  public static TableSpec values(String name, int most) {
    return of(name, Kind.VALUES, most);
  }

  private static TableSpec of(String name, Kind kind, long width) {
    return new TableSpec(
        name,
        new Structure(kind, width),
        "sum",
        new Initial("zero", 0),
        Consistency.synchronous(),
        Checks.LENGTHS,
        Slicer.hash(),
        Retention.ALL);
  }

  /// Returns a copy with another update rule.
  public TableSpec withRule(String text) {
    return new TableSpec(name, structure, text, initial, consistency, checks, slicer, retention);
  }

  /// Returns a copy with other initial values.
  public TableSpec withInitial(String text, long seed) {
    return new TableSpec(
        name, structure, rule, new Initial(text, seed), consistency, checks, slicer, retention);
  }

  /// Returns a copy with another consistency.
  public TableSpec with(Consistency other) {
    Objects.requireNonNull(other, "other");
    return new TableSpec(name, structure, rule, initial, other, checks, slicer, retention);
  }

  /// Returns a copy with other checks.
  public TableSpec with(Checks other) {
    Objects.requireNonNull(other, "other");
    return new TableSpec(name, structure, rule, initial, consistency, other, slicer, retention);
  }

  /// Returns a copy with another slicer. Throws `IllegalArgumentException` if the slicer of a
  /// tensor is not `Slicer.Parts`, or if that of another table is.
  public TableSpec with(Slicer other) {
    if (kind() == Kind.TENSOR && !(other instanceof Slicer.Parts)) {
      throw new IllegalArgumentException(
          "tensor '%s': slicer '%s' spreads keys; a tensor is cut by Slicer.parts"
              .formatted(name, other.text()));
    }
    return new TableSpec(name, structure, rule, initial, consistency, checks, other, retention);
  }

  /// Returns a copy with another retention. Throws `IllegalArgumentException` for a table without
  /// rows.
  public TableSpec with(Retention other) {
    return new TableSpec(name, structure, rule, initial, consistency, checks, slicer, other);
  }

  /// Returns the kind of the table.
  public Kind kind() {
    return structure.kind;
  }

  /// Returns the floats of a row, of the whole tensor, or of the longest value.
  public long width() {
    return structure.width;
  }

  /// Returns the identifier of the table on the wire: the 64-bit FNV-1a hash of the name. Never 0.
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

  /// Returns the text that `parse` reads, in lines. It contains only the text of the slicer,
  /// because servers do not slice.
  public String text() {
    return String.join(
        "\n",
        name,
        kind().name(),
        Long.toString(width()),
        rule,
        initial.values,
        Long.toString(initial.seed),
        consistency.text(),
        checks.name(),
        slicer.text(),
        retention.text());
  }

  /// Returns the differences between this and another specification, in words: `rule: 'sum', now
  /// 'sgd:lr=0.1'`. Empty if they are equal.
  public List<String> differences(TableSpec now) {
    return Stream.of(
            difference("name", name, now.name),
            difference("kind", kind(), now.kind()),
            difference("floats", width(), now.width()),
            difference("rule", rule, now.rule),
            difference("initial values", initial.values, now.initial.values),
            difference("seed", initial.seed, now.initial.seed),
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

  /// Parses a text of `text`. The slicer of the result cannot slice, unless it cuts a tensor.
  /// Throws `IllegalArgumentException` if the text is invalid.
  public static TableSpec parse(String text) {
    String[] lines = text.split("\n", -1);
    if (lines.length != 10) {
      throw new IllegalArgumentException("a table's specification of " + lines.length + " lines");
    }
    try {
      Kind kind = Kind.valueOf(lines[1]);
      return new TableSpec(
          lines[0],
          new Structure(kind, Long.parseLong(lines[2])),
          lines[3],
          new Initial(lines[4], Long.parseLong(lines[5])),
          Consistency.parse(lines[6]),
          Checks.valueOf(lines[7]),
          kind == Kind.TENSOR ? Slicer.Parts.parse(lines[8]) : new Named(lines[8]),
          Retention.parse(lines[9]));
    } catch (NumberFormatException wrong) {
      throw new IllegalArgumentException(
          "a table's specification with an invalid number: " + wrong.getMessage(), wrong);
    }
  }

  /// A slicer whose text alone is known.
  private record Named(String text) implements Slicer {
    @Override
    public int shard(long key, int shards) {
      throw new IllegalStateException("a server does not slice");
    }
  }
}
