// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// The built-in update rules by name, with the parameters and definitions of TensorFlow's
/// optimizers:
///
/// | text | parameters and defaults | slots of a value |
/// |---|---|---|
/// | `sum` | | 0 |
/// | `assign` | | 0 |
/// | `sgd` | `lr=0.01` | 0 |
/// | `momentum` | `lr=0.01`, `momentum=0.9`, `nesterov=false` | 1 |
/// | `adagrad` | `lr=0.001`, `init=0.1`, `eps=1e-7` | 1 |
/// | `rowwise-adagrad` | `lr=0.001`, `init=0.1`, `eps=1e-7` | 0, and 1 of a row |
/// | `adam` | `lr=0.001`, `beta1=0.9`, `beta2=0.999`, `eps=1e-7` | 2 |
/// | `ftrl` | `lr=0.001`, `init=0.1`, `l1=0`, `l2=0` | 2 |
public final class UpdateRules {

  private static final float EPSILON = 1e-7f;

  private UpdateRules() {}

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
    var p = new Parameters("update rule", text);
    UpdateRule rule =
        switch (p.name()) {
          case "sum" -> new Sum();
          case "assign" -> new Assign();
          case "sgd" -> new Sgd(p.number("lr", 0.01f, 0));
          case "momentum" ->
              new Momentum(
                  p.number("lr", 0.01f, 0), p.fraction("momentum", 0.9f), p.flag("nesterov"));
          case "adagrad" ->
              new Adagrad(
                  p.number("lr", 0.001f, 0),
                  p.number("init", 0.1f, 0),
                  p.number("eps", EPSILON, 0));
          case "rowwise-adagrad" ->
              new RowwiseAdagrad(
                  p.number("lr", 0.001f, 0),
                  p.number("init", 0.1f, 0),
                  p.number("eps", EPSILON, 0));
          case "adam" ->
              new Adam(
                  p.number("lr", 0.001f, 0),
                  p.fraction("beta1", 0.9f),
                  p.fraction("beta2", 0.999f),
                  p.number("eps", EPSILON, 0));
          case "ftrl" ->
              new Ftrl(
                  p.positive("lr", 0.001f),
                  p.positive("init", 0.1f),
                  p.number("l1", 0, 0),
                  p.number("l2", 0, 0));
          default ->
              throw p.wrong(
                  "unknown rule; there are sum, assign, sgd, momentum, adagrad,"
                      + " rowwise-adagrad, adam, ftrl");
        };
    p.end();
    return rule;
  }
}
