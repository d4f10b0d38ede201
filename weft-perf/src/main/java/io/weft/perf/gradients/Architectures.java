// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.perf.gradients.GradientModel.ModelVariable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Published networks, built layer by layer in the order of the forward pass: the shapes of their
/// variables, and the multiplications of each layer for one image or sentence. The time of the
/// backward pass is divided among the layers in proportion to their multiplications. The time of a
/// step with images is that of TensorFlow's published benchmarks with 64 images on one Tesla P100;
/// that of the transformer is an estimate. The forward pass takes a third of it.
public final class Architectures {

  /// The images or sentences of a rank in a step.
  public static final int BATCH = 64;

  /// The names on the command line.
  public static final List<String> NAMES =
      List.of("resnet101", "inception-v3", "vgg16", "transformer-base");

  private static final int CLASSES = 1000;

  private final List<ModelVariable> variables = new ArrayList<>();

  private Architectures() {}

  /// Returns the model `name`. Throws `IllegalArgumentException` with the allowed names.
  public static GradientModel named(String name) {
    var net = new Architectures();
    return switch (name) {
      case "resnet101" -> net.resnet101().model(name, 136);
      case "inception-v3" -> net.inceptionV3().model(name, 142);
      case "vgg16" -> net.vgg16().model(name, 154);
      // 64 sentences of 27 words a step, which took about 0.4 s on a P100 [VASWANI17 §5.2].
      case "transformer-base" -> net.transformerBase().model(name, 160);
      default ->
          throw new IllegalArgumentException(
              "--model: unknown model '%s'; allowed: %s, uniform"
                  .formatted(name, String.join(", ", NAMES)));
    };
  }

  private GradientModel model(String name, double imagesPerSecond) {
    long nanos = Math.round(1e9 * BATCH / imagesPerSecond);
    return GradientModel.of(name, variables, Duration.ofNanos(nanos));
  }

  /// Adds a variable whose layer makes `timesEach` multiplications per element.
  private void add(String name, long elements, double timesEach) {
    variables.add(ModelVariable.dense(name, elements, elements * timesEach));
  }

  /// Adds a convolution of `k` x `l` from `in` to `out` channels, whose result is `side` x `side`.
  private void convolution(String name, int k, int l, int in, int out, int side) {
    add(name + "/kernel", (long) k * l * in * out, (double) side * side);
  }

  private void dense(String name, int in, int out) {
    add(name + "/kernel", (long) in * out, 1);
    add(name + "/bias", out, 1);
  }

  /// Builds a residual network with bottlenecks of 3, 4, 23 and 3 blocks [HE16 table 1]. Each
  /// convolution has scale and offset of a batch normalization.
  private Architectures resnet101() {
    normalized("conv1", 7, 7, 3, 64, 112, true);
    int in = 64;
    int side = 56;
    int[] blocks = {3, 4, 23, 3};
    for (int stage = 0; stage < blocks.length; stage++) {
      int width = 64 << stage;
      for (int block = 0; block < blocks[stage]; block++) {
        if (stage > 0 && block == 0) {
          side /= 2;
        }
        String name = "conv%d_%d".formatted(stage + 2, block + 1);
        if (block == 0) {
          normalized(name + "/shortcut", 1, 1, in, 4 * width, side, true);
        }
        normalized(name + "/a", 1, 1, in, width, side, true);
        normalized(name + "/b", 3, 3, width, width, side, true);
        normalized(name + "/c", 1, 1, width, 4 * width, side, true);
        in = 4 * width;
      }
    }
    dense("fc", in, CLASSES);
    return this;
  }

  private void normalized(String name, int k, int l, int in, int out, int side, boolean scaled) {
    convolution(name, k, l, in, out, side);
    if (scaled) {
      add(name + "/gamma", out, (double) side * side);
    }
    add(name + "/beta", out, (double) side * side);
  }

  /// Builds 13 convolutions and 3 dense layers with biases [SIMONYAN15 table 1, D].
  private Architectures vgg16() {
    int[][] stages = {{64, 2, 224}, {128, 2, 112}, {256, 3, 56}, {512, 3, 28}, {512, 3, 14}};
    int in = 3;
    for (int s = 0; s < stages.length; s++) {
      for (int c = 0; c < stages[s][1]; c++) {
        String name = "conv%d_%d".formatted(s + 1, c + 1);
        convolution(name, 3, 3, in, stages[s][0], stages[s][2]);
        add(name + "/bias", stages[s][0], (double) stages[s][2] * stages[s][2]);
        in = stages[s][0];
      }
    }
    dense("fc6", 512 * 7 * 7, 4096);
    dense("fc7", 4096, 4096);
    dense("fc8", 4096, CLASSES);
    return this;
  }

  /// Builds the network without the auxiliary head [SZEGEDY16 table 1]. Batch normalization has
  /// only an offset.
  private Architectures inceptionV3() {
    inception("stem1", 3, 3, 3, 32, 149);
    inception("stem2", 3, 3, 32, 32, 147);
    inception("stem3", 3, 3, 32, 64, 147);
    inception("stem4", 1, 1, 64, 80, 73);
    inception("stem5", 3, 3, 80, 192, 71);
    int in = 192;
    int[] pools = {32, 64, 64};
    for (int m = 0; m < pools.length; m++) {
      String name = "mixed_35_" + m;
      inception(name + "/1x1", 1, 1, in, 64, 35);
      inception(name + "/5x5a", 1, 1, in, 48, 35);
      inception(name + "/5x5b", 5, 5, 48, 64, 35);
      inception(name + "/3x3a", 1, 1, in, 64, 35);
      inception(name + "/3x3b", 3, 3, 64, 96, 35);
      inception(name + "/3x3c", 3, 3, 96, 96, 35);
      inception(name + "/pool", 1, 1, in, pools[m], 35);
      in = 64 + 64 + 96 + pools[m];
    }
    inception("reduce_17/3x3", 3, 3, in, 384, 17);
    inception("reduce_17/a", 1, 1, in, 64, 35);
    inception("reduce_17/b", 3, 3, 64, 96, 35);
    inception("reduce_17/c", 3, 3, 96, 96, 17);
    in = 768;
    int[] widths = {128, 160, 160, 192};
    for (int m = 0; m < widths.length; m++) {
      sevens("mixed_17_" + m, in, widths[m]);
    }
    inception("reduce_8/3x3a", 1, 1, in, 192, 17);
    inception("reduce_8/3x3b", 3, 3, 192, 320, 8);
    inception("reduce_8/7x7a", 1, 1, in, 192, 17);
    inception("reduce_8/7x7b", 1, 7, 192, 192, 17);
    inception("reduce_8/7x7c", 7, 1, 192, 192, 17);
    inception("reduce_8/7x7d", 3, 3, 192, 192, 8);
    eights("mixed_8_0", 1280);
    eights("mixed_8_1", 2048);
    dense("fc", 2048, CLASSES);
    return this;
  }

  private void inception(String name, int k, int l, int in, int out, int side) {
    normalized(name, k, l, in, out, side, false);
  }

  private void sevens(String name, int in, int width) {
    inception(name + "/1x1", 1, 1, in, 192, 17);
    inception(name + "/7x7a", 1, 1, in, width, 17);
    inception(name + "/7x7b", 1, 7, width, width, 17);
    inception(name + "/7x7c", 7, 1, width, 192, 17);
    inception(name + "/7x7d", 1, 1, in, width, 17);
    inception(name + "/7x7e", 7, 1, width, width, 17);
    inception(name + "/7x7f", 1, 7, width, width, 17);
    inception(name + "/7x7g", 7, 1, width, width, 17);
    inception(name + "/7x7h", 1, 7, width, 192, 17);
    inception(name + "/pool", 1, 1, in, 192, 17);
  }

  private void eights(String name, int in) {
    inception(name + "/1x1", 1, 1, in, 320, 8);
    inception(name + "/3x3a", 1, 1, in, 384, 8);
    inception(name + "/3x3b", 1, 3, 384, 384, 8);
    inception(name + "/3x3c", 3, 1, 384, 384, 8);
    inception(name + "/3x3d", 1, 1, in, 448, 8);
    inception(name + "/3x3e", 3, 3, 448, 384, 8);
    inception(name + "/3x3f", 1, 3, 384, 384, 8);
    inception(name + "/3x3g", 3, 1, 384, 384, 8);
    inception(name + "/pool", 1, 1, in, 192, 8);
  }

  /// Builds encoder and decoder of six layers each and width 512. Both share an embedding of 37,000
  /// words [VASWANI17 table 3].
  private Architectures transformerBase() {
    int width = 512;
    int words = 27;
    add("embedding", 37_000L * width, words);
    for (int layer = 0; layer < 6; layer++) {
      attention("encoder_" + layer + "/self", width, words);
      feedForward("encoder_" + layer, width, words);
    }
    for (int layer = 0; layer < 6; layer++) {
      attention("decoder_" + layer + "/self", width, words);
      attention("decoder_" + layer + "/cross", width, words);
      feedForward("decoder_" + layer, width, words);
    }
    return this;
  }

  private void attention(String name, int width, int words) {
    for (String part : List.of("query", "key", "value", "output")) {
      add(name + "/" + part, (long) width * width, words);
    }
    normalization(name, width, words);
  }

  private void feedForward(String name, int width, int words) {
    add(name + "/inner/kernel", 4L * width * width, words);
    add(name + "/inner/bias", 4L * width, words);
    add(name + "/outer/kernel", 4L * width * width, words);
    add(name + "/outer/bias", width, words);
    normalization(name, width, words);
  }

  private void normalization(String name, int width, int words) {
    add(name + "/scale", width, words);
    add(name + "/offset", width, words);
  }
}
