// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// A parsed line of the table.
sealed interface TableLine {

  /// Returns the line as written.
  RuleSource source();

  /// Returns the location and the text of the line, without its reason.
  default String rule() {
    return source().rule();
  }

  /// Returns the reason.
  default String why() {
    return source().why();
  }

  /// A line that selects the way and algorithm of a collective.
  ///
  /// @param collective name of the collective
  /// @param conditions all must hold
  /// @param source the line as written
  record ForCollective(
      String collective, List<Condition> conditions, Way way, String algorithm, RuleSource source)
      implements TableLine {}

  /// A line that selects the segments of a way.
  ///
  /// @param conditions all must hold
  /// @param source the line as written
  record ForWay(Way way, List<Condition> conditions, Segments segments, RuleSource source)
      implements TableLine {

    /// Returns whether this line depends on the length of a tensor.
    boolean asksForSize() {
      return conditions.stream().anyMatch(condition -> condition.key().isSize());
    }
  }

  /// A line that decides whether tensors share a buffer.
  ///
  /// @param subject the question that the line answers
  /// @param conditions all must hold
  /// @param source the line as written
  record ForFusion(
      FusionRules.Subject subject,
      List<Condition> conditions,
      FusionRules.Sharing sharing,
      RuleSource source)
      implements TableLine {}

  /// A line that selects the length of the memory in which a thread combines contributions.
  ///
  /// @param source the line as written
  record ForBlocks(long bytes, RuleSource source) implements TableLine {

    /// The first word of these lines in the table.
    static final String SUBJECT = "blocks";
  }

  /// The text of a line.
  ///
  /// @param rule location and text, without the reason
  /// @param why the reason
  record RuleSource(String rule, String why) {}

  /// Parses the lines of one file.
  ///
  /// @param algorithms allowed ways and algorithms of each collective
  /// @param shipped true if the file is part of this build
  record TableReader(Map<String, List<String>> algorithms, boolean shipped) {

    private static final int COLUMNS = 4;
    private static final long LEAST_SEGMENT_BYTES = 4096;
    private static final long MOST_SEGMENT_BYTES = 64 << 20;
    private static final int MOST_IN_FLIGHT = 64;
    private static final long CACHE_LINE = 64;
    private static final Pattern BYTES = Pattern.compile("[0-9]{1,9}[KM]?");
    private static final Pattern SEGMENTS = Pattern.compile("([0-9]{1,9}[KM]?) +x +([0-9]{1,4})");

    /// Parses a line. Throws `IllegalArgumentException` that lists the allowed values.
    ///
    /// @param place file and line number
    TableLine parse(String text, String place) {
      List<String> columns = Stream.of(text.split("\\|", -1)).map(String::strip).toList();
      if (columns.size() != COLUMNS) {
        throw new IllegalArgumentException(
            ("'%s' is neither COLLECTIVE | CONDITIONS | WAY ALGORITHM | WHY nor"
                    + " WAY | CONDITIONS | SEGMENT x IN-FLIGHT | WHY nor"
                    + " fusion or mixing | CONDITIONS | shared or alone | WHY nor"
                    + " blocks | | BYTES | WHY")
                .formatted(text.strip()));
      }
      String subject = columns.getFirst();
      List<Condition> conditions =
          Stream.of(columns.get(1).split("\\s+"))
              .filter(word -> !word.isEmpty())
              .map(Condition::parse)
              .toList();
      if (columns.get(3).isEmpty()) {
        throw new IllegalArgumentException("the reason is missing, behind the last '|'");
      }
      String when = columns.get(1).isEmpty() ? "" : " " + columns.get(1);
      RuleSource source =
          new RuleSource(
              "%s: %s |%s | %s".formatted(place, subject, when, columns.get(2)), columns.get(3));
      if (subject.equals(ForBlocks.SUBJECT)) {
        return forBlocks(conditions, columns.get(2), source);
      }
      Optional<FusionRules.Subject> shared = FusionRules.Subject.named(subject);
      if (shared.isPresent()) {
        return forFusion(shared.get(), conditions, columns.get(2), source);
      }
      Optional<Way> way = Way.named(subject);
      return way.isPresent()
          ? forWay(way.get(), conditions, columns.get(2), source)
          : forCollective(subject, conditions, columns.get(2), source);
    }

    private static TableLine forBlocks(
        List<Condition> conditions, String taken, RuleSource source) {
      if (!conditions.isEmpty() || !BYTES.matcher(taken).matches()) {
        throw new IllegalArgumentException(
            "'%s' is not a length such as 128K without a condition: a block serves all operations"
                .formatted(taken));
      }
      long bytes = Condition.bytes(taken);
      if (bytes < LEAST_SEGMENT_BYTES || bytes > MOST_SEGMENT_BYTES || bytes % CACHE_LINE != 0) {
        throw new IllegalArgumentException(
            "'%s': a block has 4K to 64M, in multiples of 64 bytes".formatted(taken));
      }
      return new ForBlocks(bytes, source);
    }

    private static TableLine forFusion(
        FusionRules.Subject subject, List<Condition> conditions, String taken, RuleSource source) {
      if (asks(conditions, Condition.ConditionKey.PRIVATE)) {
        throw new IllegalArgumentException(
            "fusion cannot be chosen by private, because ranks learn of it after the choice");
      }
      return new ForFusion(subject, conditions, FusionRules.Sharing.named(taken), source);
    }

    private TableLine forCollective(
        String collective, List<Condition> conditions, String taken, RuleSource source) {
      List<String> known = algorithms.get(collective);
      if (known == null) {
        throw new IllegalArgumentException(
            "no collective '%s'; allowed: %s; or a way: mapped, wire; or fusion, mixing, blocks"
                .formatted(
                    collective, String.join(", ", algorithms.keySet().stream().sorted().toList())));
      }
      String plain = String.join(" ", taken.split("\\s+"));
      if (!known.contains(plain)) {
        throw new IllegalArgumentException(
            "no algorithm '%s' for %s; allowed: %s"
                .formatted(plain, collective, String.join(", ", known)));
      }
      int space = plain.indexOf(' ');
      Way way = Way.named(plain.substring(0, space)).orElseThrow();
      check(collective, conditions, way);
      return new ForCollective(collective, conditions, way, plain.substring(space + 1), source);
    }

    private static void check(String collective, List<Condition> conditions, Way way) {
      if (way != Way.WIRE && !asks(conditions, Condition.ConditionKey.SHARED_MEMORY)) {
        throw new IllegalArgumentException(
            "the way %s needs the condition shared-memory: elsewhere ranks share no memory"
                .formatted(way.words()));
      }
      if (asks(conditions, Condition.ConditionKey.PRIVATE)) {
        throw new IllegalArgumentException(
            "only segments can be chosen by private, because ranks learn of it after the choice");
      }
      boolean fits =
          collective.equals("barrier")
              || conditions.stream()
                  .anyMatch(
                      c ->
                          c.key() == Condition.ConditionKey.BYTES
                              && c.most() <= Way.SLOT_PAYLOAD_BYTES);
      if (way == Way.MAILBOX && !fits) {
        throw new IllegalArgumentException(
            "the way mailbox needs the condition bytes<=%d or less: a longer tensor does not fit"
                .formatted(Way.SLOT_PAYLOAD_BYTES));
      }
      boolean differ = collective.equals("allgather") || collective.equals("alltoall");
      if (differ && conditions.stream().anyMatch(condition -> condition.key().isSize())) {
        throw new IllegalArgumentException(
            "%s cannot be chosen by bytes or chunk: ranks may have tensors of different lengths,"
                    .formatted(collective)
                + " and all must choose the same");
      }
    }

    private static boolean asks(List<Condition> conditions, Condition.ConditionKey key) {
      return conditions.stream().anyMatch(condition -> condition.key() == key);
    }

    private TableLine forWay(Way way, List<Condition> conditions, String taken, RuleSource source) {
      Matcher matcher = SEGMENTS.matcher(taken);
      if (way == Way.MAILBOX || !matcher.matches()) {
        throw new IllegalArgumentException(
            way == Way.MAILBOX
                ? "a mailbox has slots of one length; its segments cannot be chosen"
                : "'%s' is not a SEGMENT x IN-FLIGHT such as 128K x 8".formatted(taken));
      }
      long bytes = Condition.bytes(matcher.group(1));
      int inFlight = Integer.parseInt(matcher.group(2));
      if (bytes < LEAST_SEGMENT_BYTES
          || bytes > MOST_SEGMENT_BYTES
          || bytes % CACHE_LINE != 0
          || inFlight < 1
          || inFlight > MOST_IN_FLIGHT) {
        throw new IllegalArgumentException(
            "'%s': a segment has 4K to 64M, in multiples of 64 bytes, and 1 to %d may be in flight"
                .formatted(taken, MOST_IN_FLIGHT));
      }
      return new ForWay(way, conditions, new Segments(bytes, inFlight, shipped), source);
    }
  }
}
