import { describe, expect, test } from "vitest";
import { compose, quoted } from "#lib/mail/compose.ts";

describe("compose", () => {
  test("text that a person chose stays text: no markup, no header, one line", () => {
    const { subject, plain, html } = compose(
      {
        subject: 'Join "<b>x</b>"\r\nBcc: eve@example.com',
        paragraphs: [`${quoted("<img src=x onerror=alert(1)>\u202Eevil\n\nHello")} invited you.`],
        action: { label: "Look at it", path: "/invitations/cit_1?a=1&b=2" },
        note: "You did not ask for this.",
      },
      "https://pay.example.com",
    );
    expect(subject).not.toMatch(/[\r\n]/);
    expect(html).not.toContain("<img");
    expect(html).toContain('href="https://pay.example.com/invitations/cit_1?a=1&amp;b=2"');
    expect(plain).toContain("“\u2068<img src=x onerror=alert(1)> evil Hello\u2069” invited you.");
    expect(plain).toContain("Look at it:\nhttps://pay.example.com/invitations/cit_1?a=1&b=2\n");
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => new URL(href!).host)).toEqual(["pay.example.com"]);
  });

  test("a chosen name is shortened and never becomes a link", () => {
    expect(quoted("Pay now at https://evil.example/x or www.evil.example")).toBe(
      "“\u2068Pay now at evil.\u2060example/x or evil.\u2060example\u2069”",
    );
    expect(quoted("Pay at http:www.//3232235777/x")).not.toContain("http://");
    expect(quoted("Harbor Books Ltd.")).toBe("“\u2068Harbor Books Ltd.\u2069”");
    expect(quoted("x".repeat(200))).toHaveLength(84);
  });
});
