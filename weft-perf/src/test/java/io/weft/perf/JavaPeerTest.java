// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.perf.process.PeerModule;
import io.weft.perf.process.PerfException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class JavaPeerTest {

  private static Stream<JavaPeer> peers() {
    return Stream.of(JavaPeer.javacppGloo(), JavaPeer.xgboost(), JavaPeer.spark());
  }

  @ParameterizedTest
  @MethodSource("peers")
  void otherCollectivesAndTransportsAreRefused(JavaPeer peer) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> peer.prepare(Plans.small(Benchmark.BROADCAST)))
        .withMessage("peer " + peer.name() + " has no broadcast; it has: allreduce");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> peer.prepare(Plans.shared(Plans.small(Benchmark.ALLREDUCE))))
        .withMessage("peer " + peer.name() + " has no transport 'shm'; allowed: tcp");
  }

  @Test
  void aPeerThatIsNotBuiltIsReportedAsMissing() {
    JavaPeer peer = new JavaPeer("some", new PeerModule("weft-none", "none.Main"), List.of());
    assertThatExceptionOfType(PerfException.Missing.class)
        .isThrownBy(() -> peer.prepare(Plans.small(Benchmark.ALLREDUCE)))
        .withMessage(
            "peer some is not built; in Weft's source tree:"
                + " mvn -q -pl weft-none -am package -DskipTests");
  }

  @Test
  void aLibraryThatDoesNotLoadIsReportedWithItsMessage() {
    JavaPeer peer =
        new JavaPeer("some", new PeerModule("weft-none", Unloadable.class.getName()), List.of());
    assertThatExceptionOfType(PerfException.Missing.class)
        .isThrownBy(() -> peer.prepare(Plans.small(Benchmark.ALLREDUCE)))
        .withMessageStartingWith("peer some: its library does not load here")
        .withMessageContaining("no native code of this library");
  }

  /// A program without its library.
  static final class Unloadable {

    private Unloadable() {}

    /// Ends as a program that loads no library.
    public static void main(String[] words) {
      System.err.println(String.join(" ", words) + ": no native code of this library");
      System.exit(1);
    }
  }
}
