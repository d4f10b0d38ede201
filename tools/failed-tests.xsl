<?xml version="1.0" encoding="UTF-8"?>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Takes the failed tests, with all that is said of them, out of a report of Surefire. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="text" encoding="UTF-8" />
  <xsl:template match="/">
    <xsl:for-each select="//testcase[failure or error]">
      <xsl:text>&#10;FAILED </xsl:text>
      <xsl:value-of select="@classname" />
      <xsl:text>.</xsl:text>
      <xsl:value-of select="@name" />
      <xsl:text>&#10;</xsl:text>
      <xsl:value-of select="failure | error" />
    </xsl:for-each>
  </xsl:template>
</xsl:stylesheet>
