// SPDX-License-Identifier: Apache-2.0
package io.weft.comm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CommExceptionTest {

  private static final IllegalStateException CAUSE = new IllegalStateException("why");

  static Stream<CommException> failures() {
    return Stream.of(
        new CommException.Mismatch("a"),
        new CommException.Broken("a", 3, CAUSE),
        new CommException.TimedOut("a", List.of(1, 2)),
        new CommException.PeerLost("a", 3, 4, CAUSE),
        new CommException.Aborted("a", 3, CAUSE),
        new CommException.Excluded("a", 4),
        new CommException.Setup("a", List.of(1, 2), CAUSE));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void eachWaiterThrowsItsOwnEqualException(CommException failure) {
    failure.addSuppressed(CAUSE);
    CommException first = failure.thrownByWaiter();
    CommException second = failure.thrownByWaiter();

    assertThat(List.of(first, second))
        .doesNotContain(failure)
        .allSatisfy(
            thrown -> {
              assertThat(thrown)
                  .isInstanceOf(failure.getClass())
                  .usingRecursiveComparison()
                  .ignoringFields("stackTrace")
                  .isEqualTo(failure);
              assertThat(thrown.getStackTrace()[0].getMethodName()).startsWith("eachWaiterThrows");
            });
    second.addSuppressed(new IllegalStateException("of the second waiter"));
    assertThat(first.getSuppressed()).containsExactly(CAUSE);
  }
}
