// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.kv.rule.RuleParameters;
import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateRuleProvider;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.rule.UpdateTile;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks rules that a program registers.
@Timeout(60)
class OwnRulesTest {

  /// `halving:throws=T`: a push of any value halves the row, the fifth one fails if T is true.
  private static final class Halving implements UpdateRuleProvider {

    @Override
    public String name() {
      return "halving";
    }

    @Override
    public UpdateRule create(RuleParameters parameters) {
      boolean fails = parameters.flag("throws");
      int slots = (int) parameters.number("slots", 1, -5);
      return new UpdateRule() {
        @Override
        public int slots() {
          return slots;
        }

        @Override
        public float rate(long step) {
          return 0.5f;
        }

        @Override
        public void apply(UpdateTile tile, int rows, int width, float rate) {
          for (int i = 0; i < rows * width; i++) {
            tile.values()[i] *= rate;
            tile.slot(0)[i]++;
            if (fails && tile.slot(0)[i] == 5) {
              throw new UnsupportedOperationException("the fifth push");
            }
          }
        }
      };
    }
  }

  private record Named(String name) implements UpdateRuleProvider {

    @Override
    public UpdateRule create(RuleParameters parameters) {
      throw new IllegalStateException("no rule today");
    }
  }

  @BeforeAll
  static void register() {
    UpdateRules.register(new Halving());
    UpdateRules.register(new Halving()); // a second node of this process
  }

  private static void onServerAndWorker(String rule, Consistency consistency, Use use) {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (worker, weft) ->
              use.of(
                  worker.register(
                      TableSpec.rows("t", 3)
                          .withRule(rule)
                          .withInitial("constant:value=64", 1)
                          .with(consistency))));
    }
  }

  private interface Use {
    void of(KvTable table) throws InterruptedException;
  }

  private static void push(KvTable table) throws InterruptedException {
    table.push(new long[] {5, 9}, new float[6]).await();
  }

  @Test
  void serversApplyARegisteredRule() {
    onServerAndWorker(
        "halving",
        Consistency.synchronous(),
        table -> {
          for (int i = 0; i < 6; i++) {
            push(table);
          }
          float[] values = new float[6];
          table.pull(new long[] {9, 5}, values).await();
          float[] expected = new float[6];
          Arrays.fill(expected, 1f);
          assertThat(values).isEqualTo(expected);
        });
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void aRuleThatThrowsFailsThePushAndTheServerContinues(boolean synchronous) {
    onServerAndWorker(
        "halving:throws=true",
        synchronous ? Consistency.synchronous() : Consistency.asynchronous(),
        table -> {
          for (int i = 0; i < 4; i++) {
            push(table);
          }
          assertThatThrownBy(() -> push(table))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContainingAll(
                  "table 't'", "update rule 'halving:throws=true' threw", "the fifth push");
          if (synchronous) {
            assertThatThrownBy(() -> push(table)).hasMessageContaining("start again");
          } else {
            table.push(new long[] {11}, new float[3]).await();
          }
        });
  }

  @Test
  void unusableRulesAreRefusedByName() {
    UpdateRules.register(new Named("broken-1"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UpdateRules.parse("broken-1"))
        .withMessageContainingAll("update rule 'broken-1'", "no rule today");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UpdateRules.parse("halving:slots=-1"))
        .withMessageContaining("-1 slots, but a rule has 0 to 16");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UpdateRules.parse("halving:rate=1"))
        .withMessageContaining("unknown parameter 'rate'; 'halving' has throws (default false)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UpdateRules.parse("halfing"))
        .withMessageContainingAll("unknown rule", "adamw", "halving", "every rank must register");
  }

  @Test
  void namesOfOtherRulesCannotBeTaken() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UpdateRules.register(new Named("halving")))
        .withMessageContaining("exists already: " + Halving.class.getName());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UpdateRules.register(new Named("adam")))
        .withMessageContaining("it is built in");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UpdateRules.register(new Named("a:b")))
        .withMessageContaining("letters, digits and hyphens");
  }
}
