// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.testkit.fault.ConnectionFault.FaultKind;
import io.weft.testkit.fault.ConnectionFault.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A parser of plans, which draws the random values.
final class PlanText {

  private static final String RANKS = "\\*|\\?|\\d{1,6}(?:,\\d{1,6})*";
  private static final Pattern FAULT =
      Pattern.compile("([a-z-]+)=(" + RANKS + ")([->])(" + RANKS + ")(?::([^@]+))?(?:@(.+))?");
  private static final Pattern NUMBER = Pattern.compile("(seed|ranks)=(-?\\d{1,18})");
  private static final Pattern QUANTITY = Pattern.compile("(\\d{1,12})(ms|s|m|K|M|G|)");
  private static final Map<String, Long> MILLIS = Map.of("ms", 1L, "s", 1000L, "m", 60_000L);
  private static final Map<String, Long> BYTES =
      Map.of("", 1L, "K", 1L << 10, "M", 1L << 20, "G", 1L << 30);

  private final List<String> items;
  private final int ranks;
  private final SplittableRandom random;

  PlanText(String text, int ranks) {
    this.items =
        Stream.of(text.split(";")).map(String::strip).filter(item -> !item.isEmpty()).toList();
    this.ranks = Math.toIntExact(number("ranks", ranks));
    this.random = new SplittableRandom(number("seed", 0));
  }

  FaultPlan plan() {
    return new FaultPlan(
        items.stream().filter(item -> !NUMBER.matcher(item).matches()).map(this::fault).toList());
  }

  private long number(String name, long otherwise) {
    for (String item : items) {
      Matcher matcher = NUMBER.matcher(item);
      if (matcher.matches() && matcher.group(1).equals(name)) {
        return Long.parseLong(matcher.group(2));
      }
    }
    return otherwise;
  }

  private ConnectionFault fault(String item) {
    Matcher matcher = FAULT.matcher(item);
    if (!matcher.matches()) {
      throw wrong(item, "it is not KIND=LINKS[:AMOUNT][@MOMENT] nor seed=N nor ranks=N");
    }
    FaultKind kind = kind(item, matcher.group(1));
    Links links = links(item, matcher.group(2), matcher.group(3), matcher.group(4));
    Duration amount = amount(item, kind, matcher.group(5));
    return new ConnectionFault(kind, links, amount, moment(item, matcher.group(6)));
  }

  private FaultKind kind(String item, String word) {
    if (word.equals("any")) {
      // A delay does no harm.
      List<FaultKind> harmful =
          List.of(FaultKind.CUT, FaultKind.HALF_CLOSE, FaultKind.STALL, FaultKind.CORRUPT);
      return harmful.get(random.nextInt(harmful.size()));
    }
    return Stream.of(FaultKind.values())
        .filter(kind -> kind.word().equals(word))
        .findFirst()
        .orElseThrow(
            () ->
                wrong(
                    item,
                    "unknown kind '"
                        + word
                        + "'; expected any or one of "
                        + Stream.of(FaultKind.values()).map(FaultKind::word).toList()));
  }

  private Links links(String item, String from, String way, String to) {
    List<Integer> named =
        to.contains("?") || to.equals("*") ? List.of() : group(item, to, List.of());
    List<Integer> one = group(item, from, named);
    List<Integer> other =
        named.isEmpty() ? group(item, to, to.equals("?") ? one : List.of()) : named;
    return new Links(
        one, other, way.equals("-") ? Links.LinkDirections.BOTH : Links.LinkDirections.THERE);
  }

  private List<Integer> group(String item, String text, List<Integer> without) {
    if (!text.equals("*") && !text.equals("?")) {
      return Stream.of(text.split(",")).map(Integer::valueOf).toList();
    }
    if (ranks < 2) {
      throw wrong(item, "'" + text + "' needs ranks=N, at least 2, or WEFT_SIZE");
    }
    List<Integer> all = IntStream.range(0, ranks).boxed().toList();
    if (text.equals("*")) {
      return all;
    }
    var left = new ArrayList<>(all);
    left.removeAll(without);
    if (left.isEmpty()) {
      throw wrong(item, "no rank is left to draw");
    }
    return List.of(left.get(random.nextInt(left.size())));
  }

  private Duration amount(String item, FaultKind kind, @Nullable String text) {
    if (text == null) {
      if (kind == FaultKind.DELAY) {
        throw wrong(item, "a delay needs an amount, such as delay=0-1:20ms");
      }
      return Duration.ZERO;
    }
    if (kind != FaultKind.DELAY && kind != FaultKind.STALL) {
      throw wrong(item, kind.word() + " has no amount");
    }
    return Duration.ofMillis(drawn(item, text, MILLIS, "a time such as 500ms or 2s..5s"));
  }

  private Moment moment(String item, @Nullable String text) {
    if (text == null) {
      return new Moment.After(Duration.ZERO);
    }
    String allowed = "a time such as 500ms or 2s..5s, or bytes such as 4096 or 1K..64K";
    return text.matches(".*(ms|s|m)")
        ? new Moment.After(Duration.ofMillis(drawn(item, text, MILLIS, allowed)))
        : new Moment.Behind(drawn(item, text, BYTES, allowed));
  }

  private long drawn(String item, String text, Map<String, Long> units, String allowed) {
    String[] ends = text.split("\\.\\.", -1);
    if (ends.length > 2) {
      throw wrong(item, "'" + text + "' is not " + allowed);
    }
    long least = quantity(item, ends[0], units, allowed);
    long most = ends.length == 1 ? least : quantity(item, ends[1], units, allowed);
    if (most < least) {
      throw wrong(item, "the range '" + text + "' is empty");
    }
    return most == least ? least : random.nextLong(least, most + 1);
  }

  private static long quantity(String item, String text, Map<String, Long> units, String allowed) {
    Matcher matcher = QUANTITY.matcher(text.strip());
    Long unit = matcher.matches() ? units.get(matcher.group(2)) : null;
    if (unit == null) {
      throw wrong(item, "'" + text + "' is not " + allowed);
    }
    return Math.multiplyExact(Long.parseLong(matcher.group(1)), unit);
  }

  private static IllegalArgumentException wrong(String item, String why) {
    return new IllegalArgumentException("fault '" + item + "': " + why);
  }
}
