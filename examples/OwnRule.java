// SPDX-License-Identifier: Apache-2.0
package examples;

import io.weft.Weft;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvTable;
import io.weft.kv.rule.RuleParameters;
import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateRuleProvider;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.rule.UpdateTile;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.util.Locale;

/// Updates a table by a rule of its own: signum moves each value by the learning rate against the
/// sign of its averaged gradient. A server applies it, and a worker fits two values. On two
/// processes:
///
/// ```
/// ./weft run -np 2 -- ./weft java examples/OwnRule.java
/// ```
final class OwnRule {

  private static final int STEPS = 400;
  private static final float[] WANTED = {3, -2};

  private OwnRule() {}

  /// The provider of `signum:lr=L,momentum=M`.
  static final class Signum implements UpdateRuleProvider {

    @Override
    public String name() {
      return "signum";
    }

    @Override
    public UpdateRule create(RuleParameters parameters) {
      return new Update(parameters.positive("lr", 0.01f), parameters.fraction("momentum", 0.9f));
    }
  }

  /// The rule, with one slot for each value: its averaged gradient.
  private record Update(float lr, float momentum) implements UpdateRule {

    @Override
    public int slots() {
      return 1;
    }

    @Override
    public float rate(long step) {
      return lr;
    }

    @Override
    public void apply(UpdateTile tile, int rows, int width, float rate) {
      float[] values = tile.values();
      float[] gradient = tile.gradient();
      float[] averages = tile.slot(0);
      for (int i = 0; i < rows * width; i++) {
        averages[i] = momentum * averages[i] + (1 - momentum) * gradient[i];
        values[i] -= rate * Math.signum(averages[i]);
      }
    }
  }

  static void main() throws InterruptedException {
    UpdateRules.register(new Signum()); // on every rank
    try (Weft weft = Weft.init();
        KvNode kv = KvNode.open(weft, KvOptions.servers(1))) {
      if (kv.serve()) {
        return; // a server whose workers have left
      }
      KvTable table =
          kv.worker()
              .register(
                  TableSpec.rows("line", 2)
                      .withRule("signum:lr=0.02,momentum=0.5")
                      .with(Consistency.synchronous()));
      long[] keys = {7};
      float[] values = new float[2];
      for (int step = 0; step < STEPS; step++) {
        table.pull(keys, values).await();
        table.push(keys, new float[] {values[0] - WANTED[0], values[1] - WANTED[1]}).await();
      }
      System.out.printf(Locale.ROOT, "the values: %.1f %.1f%n", values[0], values[1]);
    }
  }
}
