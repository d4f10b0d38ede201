// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Date;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/// Checks the certificate that a process creates for itself, as the JDK reads it.
class SelfSignedTest {

  @Test
  void theJdkReadsTheCertificate() throws GeneralSecurityException {
    X509Certificate made = SelfSigned.fresh().certificate();
    X509Certificate read =
        (X509Certificate)
            CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(made.getEncoded()));
    assertThat(read).isEqualTo(made);
    assertThat(read.getVersion()).isEqualTo(3);
    assertThat(read.getSerialNumber()).isPositive();
    assertThat(read.getSigAlgName()).isEqualTo("SHA256withECDSA");
    assertThat(read.getPublicKey().getAlgorithm()).isEqualTo("EC");
    assertThat(read.getSubjectX500Principal().getName()).isEqualTo("CN=weft");
    assertThat(read.getIssuerX500Principal()).isEqualTo(read.getSubjectX500Principal());
    assertThat(read.getKeyUsage()).startsWith(true, false, false);
    assertThat(read.getCriticalExtensionOIDs()).containsExactly("2.5.29.15");
    assertThat(read.getBasicConstraints()).as("not an authority").isEqualTo(-1);
  }

  @Test
  void theCertificateIsValidAtAllTimes() throws GeneralSecurityException {
    X509Certificate certificate = SelfSigned.fresh().certificate();
    certificate.checkValidity(new Date(946_684_800_000L)); // 2000-01-01
    certificate.checkValidity(new Date(253_402_300_799_000L)); // 9999-12-31
  }

  @Test
  void theCertificateIsSignedOnlyByItsOwnKey() throws GeneralSecurityException {
    SelfSigned own = SelfSigned.fresh();
    own.certificate().verify(own.certificate().getPublicKey());
    SelfSigned other = SelfSigned.fresh();
    assertThatThrownBy(() -> own.certificate().verify(other.certificate().getPublicKey()))
        .isInstanceOf(SignatureException.class);
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(own.key());
    signature.update((byte) 1);
    byte[] signed = signature.sign();
    signature.initVerify(own.certificate());
    signature.update((byte) 1);
    assertThat(signature.verify(signed)).isTrue();
  }

  @Test
  void eachCertificateIsNew() {
    X509Certificate first = SelfSigned.fresh().certificate();
    X509Certificate second = SelfSigned.fresh().certificate();
    assertThat(second.getPublicKey()).isNotEqualTo(first.getPublicKey());
    assertThat(second.getSerialNumber()).isNotEqualTo(first.getSerialNumber());
  }

  @Test
  void encodingFollowsTheStandard() {
    assertThat(hex(Der.identifier(1, 2, 840, 10045, 4, 3, 2))).isEqualTo("06082a8648ce3d040302");
    assertThat(hex(Der.identifier(2, 5, 29, 15))).isEqualTo("0603551d0f");
    assertThat(hex(Der.integer(BigInteger.valueOf(128)))).isEqualTo("02020080");
    assertThat(hex(Der.octets(Der.bits(7, (byte) 0x80)))).isEqualTo("040403020780");
    assertThat(hex(Der.sequence(Der.yes(), Der.set(Der.text("x")))))
        .isEqualTo("30080101ff31030c0178");
    assertThat(hex(Der.explicit(3, new byte[0]))).isEqualTo("a300");
    assertThat(hex(Der.octets(new byte[127]))).startsWith("047f00");
    assertThat(hex(Der.octets(new byte[128]))).startsWith("04818000");
    assertThat(hex(Der.octets(new byte[256]))).startsWith("0482010000");
    assertThat(Der.octets(new byte[70_000])).hasSize(70_000 + 5).startsWith(4, 0x83, 1, 0x11, 0x70);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
