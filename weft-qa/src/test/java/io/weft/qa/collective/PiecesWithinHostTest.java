// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import io.weft.transport.tcp.TcpConfig;
import io.weft.transport.tcp.TcpProvider;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Two ranks of a host send each other pieces of any length over TCP, and notice where they differ
/// in it.
@Timeout(60)
class PiecesWithinHostTest {

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

  @ParameterizedTest
  @ValueSource(strings = {"64K", "128K", "512K", "1M"})
  void sumsAreExactAtTheEdgesOfPieces(String piece) {
    try (LocalJob job = LocalJob.start(2, config(piece))) {
      for (int kib : new int[] {64, 128, 256, 512, 1024, 2048, 3000}) {
        for (String algorithm : List.of("direct", "recursive-doubling", "ring")) {
          for (int more : new int[] {-1, 0, 1}) {
            long elements = (kib << 10) / LONG.byteSize() + more;
            var unused = job.run(weft -> sum(weft, elements, algorithm));
          }
        }
      }
    }
  }

  @Test
  void differentPiecesAreNoticed() {
    var provider = new OfItsOwn();
    try (LocalJob job =
        LocalJob.start(2, WeftConfig.builder().transport("tcp").build(), provider)) {
      List<String> messages =
          job.run(
              weft -> {
                try (OwnedTensor t = longs(1 << 17)) {
                  CommException failure =
                      ExpectedFailures.of(
                          weft.communicator()
                              .allreduce(t.view(), t.view(), ReduceOp.SUM, named("g")));
                  return failure.getMessage();
                }
              });
      assertThat(messages)
          .anySatisfy(m -> assertThat(m).contains("'g'", "segments of", "131072", "524288"))
          .allSatisfy(m -> assertThat(m).contains("the same tuning"));
    }
  }

  private static WeftConfig config(String piece) {
    return WeftConfig.builder().transport("tcp").set(TcpConfig.PIECE_BYTES, piece).build();
  }

  private static OwnedTensor longs(long elements) {
    return OwnedTensor.allocate(DType.INT64, Shape.of(elements));
  }

  private static boolean sum(Weft weft, long elements, String algorithm) throws Exception {
    try (OwnedTensor input = longs(elements);
        OwnedTensor output = longs(elements)) {
      MemorySegment mine = input.view().data();
      for (long i = 0; i < elements; i++) {
        mine.setAtIndex(LONG, i, i * (1 + 2 * weft.rank()));
      }
      weft.communicator()
          .allreduce(input.view(), output.view(), ReduceOp.SUM, named("sum").by(algorithm))
          .await();
      MemorySegment all = output.view().data();
      for (long i = 0; i < elements; i++) {
        assertThat(all.getAtIndex(LONG, i)).isEqualTo(4 * i);
      }
      return true;
    }
  }

  /// TCP whose pieces are longer on rank 1.
  private static final class OfItsOwn implements TransportProvider {

    private final TcpProvider tcp = new TcpProvider();

    @Override
    public String scheme() {
      return tcp.scheme();
    }

    @Override
    public Availability probe() {
      return tcp.probe();
    }

    @Override
    public Transport open(TransportConfig config, FrameSink sink) {
      long piece = config.credentials().node() == 1 ? 524_288 : 131_072;
      return tcp.open(
          new TransportConfig(
              config.bind(),
              config.connectDeadline(),
              config.credentials(),
              config.encryption(),
              config.settings().with(TcpConfig.PIECE_BYTES, piece)),
          sink);
    }
  }
}
