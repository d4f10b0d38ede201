// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.text;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;

/// English sentences, one in a line, drawn from a small grammar: verbs agree with their subjects,
/// pronouns with the subjects that they repeat, and numbers count up. Equal seeds give equal text.
///
/// @param context the characters of an example
/// @param seed of all choices
public record DrawnSentences(int context, long seed) implements DataSource {

  private static final int LENGTH = 120_000;
  private static final int NUMBERS = 40;

  private static final List<String> ONE =
      List.of("the server", "a worker", "the first rank", "every process", "the slow worker");
  private static final List<String> MANY =
      List.of("the servers", "two workers", "all ranks", "both processes", "the other workers");
  private static final List<String> ACTIONS =
      List.of("send", "receive", "average", "store", "compress", "copy");
  private static final List<String> OBJECTS =
      List.of("the gradients", "a small tensor", "new weights", "the next batch", "its rows");
  private static final List<String> ENDS =
      List.of("without a copy", "over the network", "after a barrier", "in shared memory");

  @Override
  public String name() {
    return "drawn sentences";
  }

  @Override
  public void check() {}

  @Override
  public Examples train(ReadProgress progress) {
    return windows(progress).train();
  }

  @Override
  public Examples test(ReadProgress progress) {
    return windows(progress).test();
  }

  /// Returns at least `LENGTH` characters, and enough for the context.
  private TextWindows windows(ReadProgress progress) {
    var random = new SplittableRandom(seed);
    var text = new StringBuilder();
    int length = Math.max(LENGTH, TextWindows.least(context));
    while (text.length() < length) {
      progress.at(text.length(), length, "characters");
      int first = text.length();
      text.append(sentence(random)).append(".\n");
      text.setCharAt(first, Character.toUpperCase(text.charAt(first)));
    }
    return new TextWindows(text.toString().getBytes(StandardCharsets.US_ASCII), context);
  }

  private static String sentence(SplittableRandom random) {
    boolean many = random.nextBoolean();
    String who = one(many ? MANY : ONE, random);
    String verb = one(ACTIONS, random) + (many ? " " : "s ");
    int step = random.nextInt(NUMBERS);
    return switch (random.nextInt(4)) {
      case 0 -> who + " " + verb + one(OBJECTS, random) + " " + one(ENDS, random);
      case 1 -> "in step " + step + " " + who + " " + verb + one(OBJECTS, random);
      case 2 -> "step " + (step + 1) + " follows step " + step;
      default ->
          who
              + (many ? " wait" : " waits")
              + " until step "
              + step
              + ", and then "
              + (many ? "they " : "it ")
              + verb
              + one(OBJECTS, random);
    };
  }

  private static String one(List<String> of, SplittableRandom random) {
    return of.get(random.nextInt(of.size()));
  }
}
