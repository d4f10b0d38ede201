// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The built-in update rules by name, with the parameters and definitions of TensorFlow's
/// optimizers:
///
/// | text | parameters and defaults | slots of a value |
/// |---|---|---|
/// | `sum` | | 0 |
/// | `assign` | | 0 |
/// | `sgd` | `lr=0.01`, `decay=0` | 0 |
/// | `momentum` | `lr=0.01`, `momentum=0.9`, `nesterov=false`, `decay=0` | 1 |
/// | `adagrad` | `lr=0.001`, `init=0.1`, `eps=1e-7` | 1 |
/// | `rowwise-adagrad` | `lr=0.001`, `init=0.1`, `eps=1e-7` | 0, and 1 of a row |
/// | `adam` | `lr=0.001`, `beta1=0.9`, `beta2=0.999`, `eps=1e-7` | 2 |
/// | `adamw` | as `adam`, `decay=0.004` | 2 |
/// | `ftrl` | `lr=0.001`, `init=0.1`, `l1=0`, `l2=0` | 2 |
///
/// All but `sum` and `assign` also have `clip=0`, the largest magnitude of an element of a
/// gradient; 0 for no limit. Other names are those of rules that the program has registered. Any
/// thread.
public final class UpdateRules {

  private static final String KIND = "update rule";
  private static final float EPSILON = 1e-7f;
  private static final Set<String> BUILT_IN =
      new LinkedHashSet<>(
          List.of(
              "sum",
              "assign",
              "sgd",
              "momentum",
              "adagrad",
              "rowwise-adagrad",
              "adam",
              "adamw",
              "ftrl"));
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9-]{1,64}");
  private static final Map<String, UpdateRuleProvider> OWN = new ConcurrentSkipListMap<>();

  private UpdateRules() {}

  /// Adds a rule to those of this process. Every rank must call it before it opens its `KvNode`. A
  /// second provider of the same class takes the place of the first. Throws
  /// `IllegalArgumentException` for a name that is not allowed, or that another rule has.
  public static void register(UpdateRuleProvider provider) {
    String name = Objects.requireNonNull(provider, "provider").name();
    if (!NAME.matcher(Objects.requireNonNull(name, "name")).matches()) {
      throw new IllegalArgumentException(
          "update rule '" + name + "': a name has letters, digits and hyphens");
    }
    UpdateRuleProvider other = BUILT_IN.contains(name) ? null : OWN.putIfAbsent(name, provider);
    if (BUILT_IN.contains(name) || (other != null && other.getClass() != provider.getClass())) {
      throw new IllegalArgumentException(
          "update rule '"
              + name
              + "' exists already: "
              + (other == null ? "it is built in" : other.getClass().getName()));
    }
    OWN.put(name, provider);
  }

  /// Returns whether the rule of a text counts the updates of its table. Returns false for an
  /// invalid text, because the servers report the error.
  public static boolean countsSteps(String text) {
    try {
      return parse(text).countsSteps();
    } catch (IllegalArgumentException none) {
      return false;
    }
  }

  /// Returns the rule of a text such as `adagrad:lr=0.05,eps=1e-7`. Throws
  /// `IllegalArgumentException` with the allowed texts.
  public static UpdateRule parse(String text) {
    var p = new RuleParameters(KIND, text);
    UpdateRule rule =
        switch (p.name()) {
          case "sum" -> new Sum();
          case "assign" -> new Assign();
          case "sgd" -> clipped(p, new Sgd(p.number("lr", 0.01f, 0), p.number("decay", 0, 0)));
          case "momentum" ->
              clipped(
                  p,
                  new Momentum(
                      p.number("lr", 0.01f, 0),
                      p.fraction("momentum", 0.9f),
                      p.flag("nesterov"),
                      p.number("decay", 0, 0)));
          case "adagrad" ->
              clipped(
                  p,
                  new Adagrad(
                      p.number("lr", 0.001f, 0),
                      p.number("init", 0.1f, 0),
                      p.number("eps", EPSILON, 0)));
          case "rowwise-adagrad" ->
              clipped(
                  p,
                  new RowwiseAdagrad(
                      p.number("lr", 0.001f, 0),
                      p.number("init", 0.1f, 0),
                      p.number("eps", EPSILON, 0)));
          case "adam" -> adam(p, 0);
          case "adamw" -> adam(p, p.number("decay", 0.004f, 0));
          case "ftrl" ->
              clipped(
                  p,
                  new Ftrl(
                      p.positive("lr", 0.001f),
                      p.positive("init", 0.1f),
                      p.number("l1", 0, 0),
                      p.number("l2", 0, 0)));
          default -> {
            UpdateRuleProvider provider = OWN.get(p.name());
            if (provider == null) {
              throw p.wrong(
                  "unknown rule; there are "
                      + Stream.concat(BUILT_IN.stream(), OWN.keySet().stream())
                          .collect(Collectors.joining(", "))
                      + "; every rank must register a program's own rule");
            }
            yield OwnRule.of(text, provider, p);
          }
        };
    p.end();
    return rule;
  }

  /// Returns the text of a rule with other values of some parameters, such as `lr=0.01,clip=1`.
  /// Throws `IllegalArgumentException` if the parameters are invalid, or cannot change while slots
  /// of the values exist.
  public static String changed(String text, String parameters) {
    UpdateRule before = parse(text);
    String changed = new RuleParameters(KIND, text).with(parameters);
    UpdateRule after = parse(changed);
    boolean alike =
        before.slots() == after.slots()
            && before.rowSlots() == after.rowSlots()
            && before.countsSteps() == after.countsSteps();
    for (int slot = 0; alike && slot < before.slots() + before.rowSlots(); slot++) {
      alike = before.initialSlot(slot) == after.initialSlot(slot);
    }
    if (!alike) {
      throw new IllegalArgumentException(
          "update rule '%s' cannot become '%s' while it runs: the slots of its values would differ"
              .formatted(text, changed));
    }
    return changed;
  }

  private static UpdateRule adam(RuleParameters p, float decay) {
    return clipped(
        p,
        new Adam(
            p.number("lr", 0.001f, 0),
            p.fraction("beta1", 0.9f),
            p.fraction("beta2", 0.999f),
            p.number("eps", EPSILON, 0),
            decay));
  }

  private static UpdateRule clipped(RuleParameters p, UpdateRule rule) {
    float limit = p.number("clip", 0, 0);
    return limit == 0 ? rule : new Clipped(rule, limit);
  }
}
