// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// A rule of an `UpdateRuleProvider`. Names the rule in its exceptions, so that the worker whose
/// push fails learns of the cause.
///
/// @param text the text of the rule
/// @param real the rule of the provider
/// @param slots of each value
/// @param rowSlots of each row
record OwnRule(String text, UpdateRule real, int slots, int rowSlots) implements UpdateRule {

  private static final int MOST_SLOTS = 16;

  /// Returns the rule of a provider. Throws `IllegalArgumentException`, which names the text, if
  /// the provider returns no usable rule.
  static OwnRule of(String text, UpdateRuleProvider provider, RuleParameters parameters) {
    try {
      UpdateRule real = provider.create(parameters);
      return new OwnRule(
          text, real, slots(parameters, real.slots()), slots(parameters, real.rowSlots()));
    } catch (IllegalArgumentException refused) {
      throw refused;
    } catch (RuntimeException failed) {
      throw parameters.wrong(provider.getClass().getName() + " threw " + failed);
    }
  }

  private static int slots(RuleParameters parameters, int slots) {
    if (slots < 0 || slots > MOST_SLOTS) {
      throw parameters.wrong(slots + " slots, but a rule has 0 to " + MOST_SLOTS);
    }
    return slots;
  }

  private IllegalStateException threw(RuntimeException failed) {
    return new IllegalStateException("update rule '" + text + "' threw " + failed, failed);
  }

  @Override
  public float initialSlot(int slot) {
    try {
      return real.initialSlot(slot);
    } catch (RuntimeException failed) {
      throw threw(failed);
    }
  }

  @Override
  public boolean countsSteps() {
    return real.countsSteps();
  }

  @Override
  public float rate(long step) {
    try {
      return real.rate(step);
    } catch (RuntimeException failed) {
      throw threw(failed);
    }
  }

  @Override
  public void apply(UpdateTile tile, int rows, int width, float rate) {
    try {
      real.apply(tile, rows, width, rate);
    } catch (RuntimeException failed) {
      throw threw(failed);
    }
  }
}
