// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

/// The subset of ASN.1's distinguished encoding rules that a certificate needs [X690 §8, §10]. Each
/// method returns tag, length and contents.
final class Der {

  private Der() {}

  static byte[] sequence(byte[]... parts) {
    return tagged(0x30, parts);
  }

  static byte[] set(byte[]... parts) {
    return tagged(0x31, parts);
  }

  /// Encodes a context-specific, constructed element with an explicit tag.
  static byte[] explicit(int number, byte[] content) {
    return tagged(0xA0 | number, content);
  }

  static byte[] integer(BigInteger value) {
    return tagged(0x02, value.toByteArray());
  }

  static byte[] yes() {
    return tagged(0x01, new byte[] {(byte) 0xFF});
  }

  static byte[] octets(byte[] content) {
    return tagged(0x04, content);
  }

  /// Encodes a bit string whose last `unused` bits are padding.
  static byte[] bits(int unused, byte... content) {
    return tagged(0x03, new byte[] {(byte) unused}, content);
  }

  static byte[] text(String text) {
    return tagged(0x0C, text.getBytes(StandardCharsets.UTF_8));
  }

  /// Encodes a time before 2050, `yyMMddHHmmssZ`.
  static byte[] shortTime(String moment) {
    return tagged(0x17, moment.getBytes(StandardCharsets.US_ASCII));
  }

  /// Encodes a time from 2050 on, `yyyyMMddHHmmssZ`.
  static byte[] longTime(String moment) {
    return tagged(0x18, moment.getBytes(StandardCharsets.US_ASCII));
  }

  /// Encodes an object identifier, whose first two numbers are below 3 and 40.
  static byte[] identifier(int... numbers) {
    var out = new ByteArrayOutputStream();
    out.write(40 * numbers[0] + numbers[1]);
    for (int i = 2; i < numbers.length; i++) {
      for (int shift = 28; shift > 0; shift -= 7) {
        if ((numbers[i] >>> shift) != 0) {
          out.write(0x80 | ((numbers[i] >>> shift) & 0x7F));
        }
      }
      out.write(numbers[i] & 0x7F);
    }
    return tagged(0x06, out.toByteArray());
  }

  private static byte[] tagged(int tag, byte[]... parts) {
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    var out = new ByteArrayOutputStream(length + 6);
    out.write(tag);
    if (length < 0x80) {
      out.write(length);
    } else {
      byte[] digits = BigInteger.valueOf(length).toByteArray();
      int skip = digits[0] == 0 ? 1 : 0;
      out.write(0x80 | (digits.length - skip));
      out.write(digits, skip, digits.length - skip);
    }
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }
}
