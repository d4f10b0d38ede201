// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.digits;

import java.util.Arrays;

/// A grey image with a round pen. The edge of a stroke falls off over `softness` pixels, which
/// combines anti-aliasing and blur. Confined to one thread.
final class Raster implements Glyph.Pen {

  static final int SIDE = 28;

  private final float[] ink = new float[SIDE * SIDE];
  private final double halfWidth;
  private final double softness;
  private final Affine affine;

  /// Creates an empty image.
  ///
  /// @param width of the pen in pixels
  /// @param softness in pixels, 1 = plain anti-aliasing
  /// @param affine from glyph to pixels
  Raster(double width, double softness, Affine affine) {
    this.halfWidth = width / 2;
    this.softness = softness;
    this.affine = affine;
  }

  /// `x' = xx x + xy y + x0`, `y' = yx x + yy y + y0`.
  record Affine(double xx, double xy, double x0, double yx, double yy, double y0) {
    double x(double x, double y) {
      return xx * x + xy * y + x0;
    }

    double y(double x, double y) {
      return yx * x + yy * y + y0;
    }
  }

  @Override
  public void line(double fromX, double fromY, double toX, double toY) {
    double ax = affine.x(fromX, fromY);
    double ay = affine.y(fromX, fromY);
    double bx = affine.x(toX, toY);
    double by = affine.y(toX, toY);
    double reach = halfWidth + softness;
    int left = pixel(StrictMath.min(ax, bx) - reach);
    int right = pixel(StrictMath.max(ax, bx) + reach);
    int top = pixel(StrictMath.min(ay, by) - reach);
    int bottom = pixel(StrictMath.max(ay, by) + reach);
    double dx = bx - ax;
    double dy = by - ay;
    double squared = dx * dx + dy * dy;
    for (int y = top; y <= bottom; y++) {
      for (int x = left; x <= right; x++) {
        double px = x + 0.5 - ax;
        double py = y + 0.5 - ay;
        double t = squared == 0 ? 0 : StrictMath.clamp((px * dx + py * dy) / squared, 0, 1);
        double ex = px - t * dx;
        double ey = py - t * dy;
        double distance = StrictMath.sqrt(ex * ex + ey * ey);
        float covered = (float) StrictMath.clamp(0.5 + (halfWidth - distance) / softness, 0, 1);
        int at = y * SIDE + x;
        ink[at] = StrictMath.max(ink[at], covered);
      }
    }
  }

  private static int pixel(double at) {
    return (int) StrictMath.clamp(StrictMath.floor(at), 0, SIDE - 1);
  }

  /// Returns a copy of the image, with values 0 to 1, row by row from the top.
  float[] ink() {
    return Arrays.copyOf(ink, ink.length);
  }
}
