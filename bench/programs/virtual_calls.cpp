/* SPDX-License-Identifier: MIT
 *
 * Short methods behind virtual calls: the kind of code that sampling finds hard.
 */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
	virtual void grow(double by) = 0;
	virtual bool fits(double limit) const { return area() < limit; }
};

struct Square : Shape {
	double side;
	explicit Square(double s) : side(s) {}
	double area() const override { return side * side; }
	void grow(double by) override { side += by; }
};

struct Box : Shape {
	double a, b;
	Box(double x, double y) : a(x), b(y) {}
	double area() const override { return a * b; }
	void grow(double by) override { a += by; b -= by / 2; }
	bool fits(double limit) const override { return a < limit && b < limit; }
};

struct Circle : Shape {
	double r;
	explicit Circle(double x) : r(x) {}
	double area() const override { return 3.14159 * r * r; }
	void grow(double by) override { r = r > 10 ? r / 2 : r + by; }
};

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000;
	std::vector<std::unique_ptr<Shape>> shapes;
	unsigned state = 12345, fitting = 0;
	double sum = 0;

	for (int i = 0; i < 1000; i++) {
		state = state * 1664525 + 1013904223;
		double x = 1 + (state >> 20) % 100 / 10.0;
		switch (state >> 28 & 3) {
		case 0: shapes.emplace_back(new Square(x)); break;
		case 1: shapes.emplace_back(new Box(x, 2 * x)); break;
		default: shapes.emplace_back(new Circle(x)); break;
		}
	}
	for (unsigned long n = 0; n < rounds; n++)
		for (auto &s : shapes) {
			s->grow(0.01);
			sum += s->area();
			fitting += s->fits(50);
		}
	std::printf("%.3f %u\n", sum, fitting);
	return 0;
}
